import {
  DEFAULT_MAX_LINE_BYTES,
  type Dialect,
  type HostFrame,
  loadDialect,
  type Params,
  protocolNames,
  type Result,
} from "@tau-agent/rpc-protocol";
import type { connectionCommands } from "@tau-agent/rpc-protocol/commands";
import { hostRequestMethods } from "@tau-agent/rpc-protocol/plain";
import { VERSION } from "../../process/version.ts";
import type { Connection } from "../connection/connection.ts";
import type { CommandClient, HostHandlers } from "./contexts.ts";

/** Incremented when the protocol changes incompatibly. */
const PROTOCOL_VERSION = 1;

export const connectionHandlers = {
  initialize: ({ client }, asked, { afterAnswer }) => {
    afterAnswer(() => client.catchUp());
    const { connection } = client;
    const { protocol } = asked;
    if (protocol === undefined || protocol === connection.dialect.name) return adopt(client, asked);
    return loadDialect(protocol).then((dialect) => {
      connection.dialect = dialect;
      return adopt(client, asked);
    });
  },
  get_capabilities: async ({ host, connection, session }) => ({
    ...hostInfo(connection),
    sandbox: await (session?.bash.describeSandbox() ?? host.describeSandbox()),
  }),
  set_subagent_subscription: async ({ session }, { level }) => {
    await session.setSubagentLevel(level);
    return { level };
  },
  set_event_filter: ({ client, connection }, { events = null }) => {
    client.setEventFilter(connection, events ?? undefined);
    return { events };
  },
} satisfies Pick<HostHandlers, keyof typeof connectionCommands>;

/** Omitted members keep their values, however often a client initializes. */
function adopt(client: CommandClient, asked: Params<"initialize">): Result<"initialize"> {
  const { connection } = client;
  const { stream, mergeMs, events } = asked;
  connection.isInitialized = true;
  if (stream !== undefined) connection.setStreamForm(stream);
  if (mergeMs !== undefined) connection.setMergeInterval(mergeMs);
  if (events !== undefined) connection.setEventFilter(events ?? undefined);
  client.initialize(asked);
  return hostInfo(connection);
}

function hostInfo(connection: Connection): Result<"initialize"> {
  return {
    name: "tau",
    version: VERSION,
    protocolVersion: PROTOCOL_VERSION,
    protocol: connection.dialect.name,
    protocols: [...protocolNames],
    stream: connection.streamForm,
    maxFrameBytes: DEFAULT_MAX_LINE_BYTES,
    capabilities: capabilitiesOf(connection.dialect),
  };
}

/** The capabilities beyond the documents that this dialect can express. */
function capabilitiesOf({ encode }: Dialect): Record<string, boolean | readonly string[]> {
  const says = (frame: HostFrame): boolean => encode(frame, { isInitialized: true }).length > 0;
  const notice = { type: "extension_ui_request", id: "", method: "notify", message: "" } as const;
  return {
    promptResult: says({ type: "prompt_result", status: "completed" }),
    agentSettled: says({ type: "agent_settled", aborted: false }),
    bashStream: says({ type: "bash_execution_update", delta: "" }),
    dialogs: says(notice),
    eventFilter: true,
    hostRequests: hostRequestMethods,
  };
}

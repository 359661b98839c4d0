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
  initialize: ({ client, attachment }, asked, { afterAnswer }) => {
    const { connection } = client;
    const { protocol } = asked;
    const adopt = () => {
      // A client may repeat its settings for each of its sessions (row `many-sessions`).
      const hasChanged = adoptSettings(client, asked);
      const listener = hasChanged ? client : (attachment ?? client);
      afterAnswer(() => listener.catchUp());
      return hostInfo(connection);
    };
    if (protocol === undefined || protocol === connection.dialect.name) return adopt();
    return loadDialect(protocol).then((dialect) => {
      connection.dialect = dialect;
      return adopt();
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

/**
 * Omitted members keep their values, however often a client initializes.
 *
 * @returns whether anything has changed
 */
function adoptSettings(client: CommandClient, asked: Params<"initialize">): boolean {
  const { connection } = client;
  const { stream, mergeMs, events } = asked;
  connection.isInitialized = true;
  if (stream !== undefined) connection.setStreamForm(stream);
  if (mergeMs !== undefined) connection.setMergeInterval(mergeMs);
  if (events !== undefined) connection.setEventFilter(events ?? undefined);
  return client.initialize(asked);
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

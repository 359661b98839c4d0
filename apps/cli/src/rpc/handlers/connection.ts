import {
  DEFAULT_MAX_LINE_BYTES,
  type Dialect,
  type Handlers,
  type HostFrame,
  type HostRequestMethod,
  loadDialect,
  type Params,
  protocolNames,
  type Result,
} from "@tau-agent/rpc-protocol";
import type { connectionCommands } from "@tau-agent/rpc-protocol/commands";
import { VERSION } from "../../process/version.ts";
import type { Host } from "./host.ts";

/** Raised when a change of the protocol is not additive. */
const PROTOCOL_VERSION = 1;

/** What this host asks its client. */
const sentRequests: readonly HostRequestMethod[] = ["tool_approval", "host_tool", "dialog"];

export const connectionHandlers = {
  initialize: (host, asked) => {
    const { protocol } = asked;
    if (protocol === undefined || protocol === host.connection.dialect.name) {
      return adopt(host, asked);
    }
    return loadDialect(protocol).then((dialect) => {
      host.connection.dialect = dialect;
      return adopt(host, asked);
    });
  },
  get_capabilities: ({ connection }) => hostInfo(connection),
  set_subagent_subscription: async ({ session }, { level }) => {
    await session.setSubagentLevel(level);
    return { level };
  },
  set_event_filter: ({ connection }, { events = null }) => {
    connection.setEventFilter(events ?? undefined);
    return { events };
  },
} satisfies Pick<Handlers<Host>, keyof typeof connectionCommands>;

/** What is not said stays as it was, however often a client initializes. */
function adopt(
  { connection, requests, session }: Host,
  { stream, mergeMs, events, capabilities, rewind }: Params<"initialize">,
): Result<"initialize"> {
  connection.isInitialized = true;
  if (stream !== undefined) connection.setStreamForm(stream);
  if (mergeMs !== undefined) connection.setMergeInterval(mergeMs);
  if (events !== undefined) connection.setEventFilter(events ?? undefined);
  if (rewind !== undefined) session.recordsFiles = rewind;
  if (capabilities !== undefined) requests.answered = capabilities.hostRequests || undefined;
  return hostInfo(connection);
}

function hostInfo(connection: Host["connection"]): Result<"initialize"> {
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

/** What there is beyond the documents, and can be said in this dialect. */
function capabilitiesOf({ encode }: Dialect): Record<string, boolean | readonly string[]> {
  const says = (frame: HostFrame): boolean => encode(frame, { isInitialized: true }).length > 0;
  const notice = { type: "extension_ui_request", id: "", method: "notify", message: "" } as const;
  return {
    promptResult: says({ type: "prompt_result", status: "completed" }),
    agentSettled: says({ type: "agent_settled", aborted: false }),
    bashStream: says({ type: "bash_execution_update", delta: "" }),
    dialogs: says(notice),
    eventFilter: true,
    hostRequests: sentRequests,
  };
}

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
import type { AnsweredMethods } from "../connection/client-requests.ts";
import type { Host } from "./host.ts";

/** Raised when a change of the protocol is not additive. */
const PROTOCOL_VERSION = 1;

/** What this host asks its client. */
const sentRequests: readonly HostRequestMethod[] = [
  "tool_approval",
  "host_tool",
  "dialog",
  "budget",
  "elicitation",
  "open_url",
];

export const connectionHandlers = {
  initialize: (host, asked) => initialize(host, asked),
  get_capabilities: async ({ connection, session }) => ({
    ...hostInfo(connection),
    sandbox: await session.bash.describeSandbox(),
  }),
  set_subagent_subscription: async ({ session }, { level }) => {
    await session.setSubagentLevel(level);
    return { level };
  },
  set_event_filter: ({ connection }, { events = null }) => {
    connection.setEventFilter(events ?? undefined);
    return { events };
  },
} satisfies Pick<Handlers<Host>, keyof typeof connectionCommands>;

/** Takes note of what a client answers. */
interface Answering {
  answered: AnsweredMethods | undefined;
}

/** What takes note of `initialize`. */
type Initialized = Pick<Host, "connection"> & {
  readonly requests: Answering;
  /** The client's session, if it has one already. */
  readonly session?: Pick<Host["session"], "checkpoints">;
};

/** Notes what a client asks for; a promise if its dialect is still to be loaded. */
export function initialize(
  host: Initialized,
  asked: Params<"initialize">,
): Result<"initialize"> | Promise<Result<"initialize">> {
  const { protocol } = asked;
  if (protocol === undefined || protocol === host.connection.dialect.name) {
    return adopt(host, asked);
  }
  return loadDialect(protocol).then((dialect) => {
    host.connection.dialect = dialect;
    return adopt(host, asked);
  });
}

/** What is not said stays as it was, however often a client initializes. */
function adopt(
  { connection, requests, session }: Initialized,
  { stream, mergeMs, events, capabilities, rewind }: Params<"initialize">,
): Result<"initialize"> {
  connection.isInitialized = true;
  if (stream !== undefined) connection.setStreamForm(stream);
  if (mergeMs !== undefined) connection.setMergeInterval(mergeMs);
  if (events !== undefined) connection.setEventFilter(events ?? undefined);
  if (rewind !== undefined && session !== undefined) session.checkpoints.isEnabled = rewind;
  if (capabilities !== undefined) requests.answered = capabilities.hostRequests || undefined;
  return hostInfo(connection);
}

/** What the host says of itself. */
export function hostInfo(connection: Host["connection"]): Result<"initialize"> {
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

import { DEFAULT_MAX_LINE_BYTES, type Handlers } from "@tau-agent/rpc-protocol";
import type { connectionCommands } from "@tau-agent/rpc-protocol/commands";
import { VERSION } from "../../version.ts";
import type { Host } from "../host.ts";

/** Raised when a change of the protocol is not additive. */
const PROTOCOL_VERSION = 1;

export const connectionHandlers = {
  initialize: ({ connection }, { stream, events }) => {
    connection.isInitialized = true;
    if (stream !== undefined) connection.setStreamForm(stream);
    if (events !== undefined) connection.setEventFilter(events ?? undefined);
    return {
      name: "tau",
      version: VERSION,
      protocolVersion: PROTOCOL_VERSION,
      protocol: "pi" as const,
      protocols: ["pi" as const],
      stream: connection.streamForm,
      maxFrameBytes: DEFAULT_MAX_LINE_BYTES,
      capabilities: { promptResult: true, agentSettled: true, bashStream: true },
    };
  },
} satisfies Pick<Handlers<Host>, keyof typeof connectionCommands>;

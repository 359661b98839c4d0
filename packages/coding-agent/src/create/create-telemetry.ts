import type { KeyMask, SettingsStore } from "@tau-agent/system";
import type { SessionParts } from "../session/build-session.ts";
import { openTelemetry } from "../telemetry/open-telemetry.ts";
import type { SessionTelemetry } from "../telemetry/session-telemetry.ts";
import type { CreateAgentSessionOptions } from "./session-options.ts";

/** The spans of a session; undefined, and nothing is loaded, while telemetry is off. */
export function createTelemetry(
  { telemetry = {}, agentName = "tau", environment }: CreateAgentSessionOptions,
  {
    settings,
    maskKeys,
    parts,
  }: {
    readonly settings: SettingsStore;
    readonly maskKeys: KeyMask;
    /** Called once the session is built. */
    readonly parts: () => SessionParts;
  },
): Promise<SessionTelemetry | undefined> {
  return openTelemetry(telemetry, {
    settings,
    maskKeys,
    agentName,
    inherited: environment?.TRACEPARENT,
    sessionId: () => parts().conversation.log.header.id,
  });
}

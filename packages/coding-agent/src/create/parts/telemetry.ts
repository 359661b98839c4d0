import { openTelemetry } from "../../telemetry/open-telemetry.ts";
import type { SessionTelemetry } from "../../telemetry/session-telemetry.ts";
import type { SessionDraft } from "./session-draft.ts";

/** The spans of a session; undefined while telemetry is off, and then nothing is loaded. */
export function createTelemetry(draft: SessionDraft): Promise<SessionTelemetry | undefined> {
  const { options, settings, environment } = draft.surroundings;
  const { telemetry = {}, agentName = "tau" } = options;
  return openTelemetry(telemetry, {
    settings,
    maskKeys: draft.maskKeys,
    agentName,
    inherited: environment.TRACEPARENT,
    sessionId: () => draft.parts.conversation.log.header.id,
  });
}

import { answerOpenCalls } from "./answer-open-calls.ts";
import type { OpenedSession, OpenOptions, SessionHome, SessionStart } from "./session-home.ts";
import { checkSessionId } from "./session-id.ts";
import { SessionLog } from "./session-log.ts";

/**
 * Opens or creates the log with which a session begins.
 *
 * @throws {SessionError} `session_not_found`, `session_invalid`, `session_unreadable`, `session_locked`,
 *   `session_write_failed`, `invalid_option`
 */
export async function openSession(
  start: SessionStart = { kind: "new" },
  home: SessionHome,
  options: OpenOptions,
): Promise<OpenedSession> {
  const { keepsQuestions, ...project } = options;
  if ("id" in start && start.id !== undefined) checkSessionId(start.id);
  switch (start.kind) {
    case "log":
      await answerOpenCalls(start.log, { keepsQuestions });
      return { log: start.log, diagnostics: [] };
    case "memory":
      return { log: SessionLog.create({ ...project, id: start.id }), diagnostics: [] };
    default:
      return home.open(start, options);
  }
}

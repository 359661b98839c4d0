import type { AgentSession } from "../session/agent-session.ts";
import { createSession } from "./create-session.ts";
import { checkSessionOptions } from "./options/check-session-options.ts";
import type { CreateAgentSessionOptions } from "./options/session-options.ts";

/**
 * Creates a session. Reads settings, keys and models as far as needed to choose the model, and the
 * session file if one is continued.
 *
 * @throws {SessionError} `model_not_found`, `model_ambiguous`, `invalid_option`, `session_invalid`,
 *   `session_locked`, `session_write_failed`
 */
export async function createAgentSession(
  options: CreateAgentSessionOptions,
): Promise<AgentSession> {
  checkSessionOptions(options);
  return (await createSession(options)).session;
}

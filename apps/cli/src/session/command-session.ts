import {
  type AgentSession,
  type CreateAgentSessionOptions,
  createAgentSession,
} from "@tau-agent/coding-agent";
import type { ProcessEnvironment } from "../process/environment.ts";

/** A session for access to files, logins and servers; it loads no extensions and stores nothing. */
export function openCommandSession(
  { cwd, agentDirectory, homeDirectory, temporaryDirectory, variables }: ProcessEnvironment,
  mcp: CreateAgentSessionOptions["mcp"],
): Promise<AgentSession> {
  return createAgentSession({
    cwd,
    agentDirectory,
    homeDirectory,
    temporaryDirectory,
    environment: variables,
    session: { kind: "memory" },
    mcp,
  });
}

import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** What the process tells the host; nothing below reads it from anywhere else. */
export interface ProcessEnvironment {
  readonly cwd: string;
  readonly homeDirectory: string;
  readonly temporaryDirectory: string;
  readonly agentDirectory: string;
  readonly sessionDirectory: string | undefined;
  readonly variables: Readonly<Record<string, string | undefined>>;
}

/**
 * Reads the environment once.
 *
 * @throws when the working directory is gone; the message says so.
 */
export function readEnvironment(): ProcessEnvironment {
  const variables = { ...process.env };
  const homeDirectory = variables.HOME || homedir();
  const agentDirectory = variables.PI_CODING_AGENT_DIR;
  const sessionDirectory = variables.PI_CODING_AGENT_SESSION_DIR;
  return {
    cwd: process.cwd(),
    homeDirectory,
    temporaryDirectory: tmpdir(),
    agentDirectory: agentDirectory
      ? resolve(expandHome(agentDirectory, homeDirectory))
      : join(homeDirectory, ".pi", "agent"),
    sessionDirectory: sessionDirectory
      ? resolve(expandHome(sessionDirectory, homeDirectory))
      : undefined,
    variables,
  };
}

function expandHome(path: string, home: string): string {
  return path === "~" || path.startsWith("~/") ? join(home, path.slice(1)) : path;
}

import { join } from "node:path";

export interface McpPlaces {
  readonly agentDirectory: string;
  readonly cwd: string;
  /** Whether the project's own files count. */
  readonly isProjectTrusted: boolean;
  /** Variables with provider keys, which a project's file must not name. */
  readonly keyVariables: () => Iterable<string>;
}

export function userFile(agentDirectory: string): string {
  return join(agentDirectory, "mcp.json");
}

/** A project's files, the weaker first. */
export function projectFiles(cwd: string): readonly string[] {
  return [join(cwd, ".pi", "mcp.json"), join(cwd, ".mcp.json")];
}

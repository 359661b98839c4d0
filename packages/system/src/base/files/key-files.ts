/**
 * Files of the agent directory that hold keys and tokens: no tool opens them, no command in the sandbox reads
 * them, and their text never reaches a model. This is the only list of them.
 */
export const keyFileNames = [
  "auth.json",
  "mcp-auth.json",
  "mcp.json",
  "models.json",
  "rpc-token",
] as const;

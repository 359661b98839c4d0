/**
 * Files of the agent directory that hold keys and tokens: no tool opens them, no command in the sandbox reads
 * them, and no text for a model comes from them. This list is the only one.
 */
export const keyFileNames = [
  "auth.json",
  "mcp-auth.json",
  "mcp.json",
  "models.json",
  "rpc-token",
] as const;

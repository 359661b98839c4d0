/** Files of the agent directory that hold keys and tokens; no model reads them. */
export const keyFileNames = ["auth.json", "mcp-auth.json", "rpc-token"] as const;

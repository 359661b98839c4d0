/** The version of this package, sent to MCP servers; `scripts/version.ts` writes it. */
export const VERSION = "0.0.0";

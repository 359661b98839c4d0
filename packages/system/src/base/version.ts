/** The version of this package, which MCP servers see; `scripts/version.ts` writes it. */
export const VERSION = "0.0.0";

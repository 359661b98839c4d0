import type { ServerPool } from "./server-pool.ts";

/**
 * Lets the sessions it is given to share the MCP servers whose entries say `stateless`: programs that do
 * not remember who has asked what. Sessions with a sandbox have theirs to themselves.
 */
export class McpPool {
  #servers: Promise<ServerPool> | undefined;

  /** The servers; their code is loaded for the first one. */
  servers(): Promise<ServerPool> {
    this.#servers ??= import("./server-pool.ts").then(({ ServerPool }) => new ServerPool());
    return this.#servers;
  }
}

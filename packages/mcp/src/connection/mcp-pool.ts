import type { ServerPool } from "./server-pool.ts";

/**
 * Lets several sessions share the MCP servers whose entries say `stateless`: programs that do not
 * remember who has asked. Sessions with a sandbox do not share servers.
 */
export class McpPool {
  #servers: Promise<ServerPool> | undefined;

  /** The servers; their code is loaded with the first one. */
  servers(): Promise<ServerPool> {
    this.#servers ??= import("./server-pool.ts").then(({ ServerPool }) => new ServerPool());
    return this.#servers;
  }
}

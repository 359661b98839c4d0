import type { ToolCallContext } from "@tau-agent/agent";
import type { McpServer } from "../connection/server.ts";

type Call = Pick<ToolCallContext, "toolCallId" | "signal">;

/** The calls on which servers work: a question of a server belongs to one of them. */
export class OpenCalls {
  readonly #calls = new Map<McpServer, Set<Call>>();

  async during<Result>(
    server: McpServer,
    call: Call,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const calls = this.#calls.get(server) ?? new Set();
    this.#calls.set(server, calls);
    calls.add(call);
    try {
      return await work();
    } finally {
      calls.delete(call);
    }
  }

  /** The call of a server, if it is the only one. */
  only(server: McpServer): Call | undefined {
    const calls = this.#calls.get(server);
    return calls?.size === 1 ? [...calls][0] : undefined;
  }

  has(server: McpServer): boolean {
    return (this.#calls.get(server)?.size ?? 0) > 0;
  }
}

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Exchange, ToolCall } from "./model-server.ts";

/** A reply as data that can be sent to another process. */
export type ReplyPlan = { readonly times?: number } & (
  | {
      readonly text: string;
      /** The number of deltas. */
      readonly count?: number;
      readonly pauseMs?: number;
      readonly eventsPerWrite?: number;
    }
  | {
      /** The number of deltas, each of which contains the time of its creation. */
      readonly stamps: number;
      readonly pauseMs: number;
    }
  | { readonly tool: string; readonly argumentDeltas: readonly string[] }
  | { readonly calls: readonly ToolCall[] }
);

export type ModelServerOrder =
  | { readonly type: "address" | "exchanges" | "last-body" }
  | { readonly type: "reply"; readonly plans: readonly ReplyPlan[] };

/** A model server in its own process, so that it and the reader of a host's output do not delay each other. */
export class RemoteModelServer implements AsyncDisposable {
  readonly baseUrl: string;
  readonly #process: ChildProcess;
  #lastId = 0;

  private constructor(child: ChildProcess, baseUrl: string) {
    this.#process = child;
    this.baseUrl = baseUrl;
  }

  static async start(): Promise<RemoteModelServer> {
    const child = fork(fileURLToPath(new URL("model-server-process.ts", import.meta.url)));
    const server = new RemoteModelServer(child, "");
    return new RemoteModelServer(child, (await server.#order({ type: "address" })) as string);
  }

  /** The next requests get these replies, later ones a short text. Forgets earlier exchanges. */
  async reply(...plans: readonly ReplyPlan[]): Promise<void> {
    await this.#order({ type: "reply", plans });
  }

  async exchanges(): Promise<readonly Exchange[]> {
    return (await this.#order({ type: "exchanges" })) as readonly Exchange[];
  }

  async lastBody(): Promise<unknown> {
    return JSON.parse((await this.#order({ type: "last-body" })) as string);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const exit = once(this.#process, "exit");
    this.#process.disconnect();
    await exit;
  }

  async #order(order: ModelServerOrder): Promise<unknown> {
    this.#lastId += 1;
    const id = this.#lastId;
    const answer = new Promise((resolve) => {
      const take = (message: { id: number; answer: unknown }) => {
        if (message.id !== id) return;
        this.#process.off("message", take);
        resolve(message.answer);
      };
      this.#process.on("message", take);
    });
    this.#process.send({ id, order });
    return answer;
  }
}

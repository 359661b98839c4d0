import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import type { Redis } from "ioredis";
import type { Frame } from "./frame-stream.ts";

const BLOCK_MS = 1_000;

/** Takes the commands of a session from Redis, each once, until stopped. */
export class ControlStream {
  readonly #redis: Redis;
  readonly #name: string;
  readonly #onCommand: (command: Frame) => void;
  #isStopped = false;
  readonly #ended: Promise<void>;

  /** `redis` is a dedicated connection, because its reads block. */
  constructor(redis: Redis, sessionId: string, onCommand: (command: Frame) => void) {
    this.#redis = redis;
    this.#name = `tau:control:${sessionId}`;
    this.#onCommand = onCommand;
    this.#ended = this.#take();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#redis.disconnect();
    await this.#ended;
  }

  async #take(): Promise<void> {
    while (!this.#isStopped) {
      try {
        const found = await this.#redis.xread("BLOCK", BLOCK_MS, "STREAMS", this.#name, "0");
        for (const [id, fields] of found?.[0]?.[1] ?? []) {
          if (this.#isStopped) return;
          // The worker that removes a command may use it.
          if ((await this.#redis.xdel(this.#name, id)) === 1) this.#use(fields);
        }
      } catch {
        // Redis is unreachable, or this stream was stopped.
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  }

  #use(fields: readonly string[]): void {
    const text = fields[fields.indexOf("command") + 1] ?? "";
    try {
      const command: unknown = JSON.parse(text);
      if (isJsonObject(command)) this.#onCommand(command as Frame);
    } catch {
      this.#onCommand({ type: "parse" });
    }
  }
}

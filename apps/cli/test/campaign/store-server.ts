import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import {
  MemorySessionStore,
  type SessionKey,
  type StoreEntry,
} from "../../../../packages/sessions/src/index.ts";

type Call = { readonly method: string; readonly args: readonly unknown[] };

/** Keeps the sessions of one round; what has come before it is cut off is stored. */
export class StoreServer {
  readonly #store = new MemorySessionStore();
  readonly #server: Server;
  #isCutOff = false;
  #awaited: { readonly word: string; readonly reached: () => void } | undefined;

  static async start(): Promise<StoreServer> {
    const server = new StoreServer();
    await new Promise<void>((resolve) => server.#server.listen(0, "127.0.0.1", resolve));
    return server;
  }

  private constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", async () => {
        if (this.#isCutOff) return request.destroy();
        const answer = await this.#answer(JSON.parse(Buffer.concat(chunks).toString()));
        // It may have been cut off before its answer.
        if (this.#isCutOff) request.destroy();
        else response.end(JSON.stringify(answer));
      });
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  /** Fulfilled when an entry with this word is stored, and its host does not know yet. */
  stored(word: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#awaited = { word, reached: resolve };
    return promise;
  }

  /** Takes no more calls, and answers none, for a time. */
  cutOff(ms: number): void {
    this.#isCutOff = true;
    setTimeout(() => {
      this.#isCutOff = false;
    }, ms);
  }

  async entries(key: SessionKey): Promise<readonly StoreEntry[]> {
    return (await this.#store.load(key)) ?? [];
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /** What is done to the host comes before the answer. */
  async #noteStored(entries: string): Promise<void> {
    const awaited = this.#awaited;
    if (awaited === undefined || !entries.includes(awaited.word)) return;
    this.#awaited = undefined;
    awaited.reached();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }

  async #answer({ method, args }: Call): Promise<object> {
    try {
      const [key, bytes] = args as [SessionKey, string];
      if (method === "putBlob") {
        return { result: await this.#store.putBlob(key, Buffer.from(bytes, "base64")) };
      }
      if (method === "getBlob") {
        const found = await this.#store.getBlob(key, bytes);
        return { result: found && Buffer.from(found).toString("base64") };
      }
      const call = Reflect.get(this.#store, method) as (...of: readonly unknown[]) => unknown;
      const result = (await call.apply(this.#store, [...args])) ?? null;
      if (method === "append") await this.#noteStored(JSON.stringify(args[1]));
      return { result };
    } catch (error) {
      const { code = "unavailable", message } = error as { code?: string; message: string };
      return { code, message };
    }
  }
}

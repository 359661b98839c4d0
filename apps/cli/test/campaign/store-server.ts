import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import {
  MemorySessionStore,
  type SessionKey,
  type StoreEntry,
} from "../../../../packages/sessions/src/index.ts";

type Call = { readonly method: string; readonly args: readonly unknown[] };

/** An entry that something happens at. */
interface Awaited {
  readonly word: string;
  readonly isRefused: boolean;
  readonly reached: () => void;
}

/** Keeps the sessions of one round; what has come before it is cut off is stored. */
export class StoreServer {
  readonly #store = new MemorySessionStore();
  readonly #server: Server;
  #cutOffUntil = 0;
  #awaited: Awaited | undefined;

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
        if (this.#isCutOff) return request.socket.destroy();
        const body = JSON.parse(Buffer.concat(chunks).toString()) as Call;
        if (this.#refuses(body)) return request.socket.destroy();
        const answer = await this.#answer(body);
        // It may have been cut off before its answer.
        if (this.#isCutOff) request.socket.destroy();
        else response.end(JSON.stringify(answer));
      });
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  /** Fulfilled when an entry with this word is stored, and its host does not know yet. */
  stored(word: string): Promise<void> {
    return this.#await(word, false);
  }

  /** Fulfilled when an entry with this word comes, which is not stored: the next moment belongs to its host's fault. */
  refused(word: string): Promise<void> {
    return this.#await(word, true);
  }

  #await(word: string, isRefused: boolean): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#awaited = { word, isRefused, reached: resolve };
    return promise;
  }

  get #isCutOff(): boolean {
    return performance.now() < this.#cutOffUntil;
  }

  /** Takes no more calls, and answers none, for a time. */
  cutOff(ms: number): void {
    this.#cutOffUntil = Math.max(this.#cutOffUntil, performance.now() + ms);
  }

  async entries(key: SessionKey): Promise<readonly StoreEntry[]> {
    return (await this.#store.load(key)) ?? [];
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /** Whether an append is the one that is refused; so is all that follows at once. */
  #refuses({ method, args }: Call): boolean {
    const awaited = this.#awaited;
    if (method !== "append" || awaited?.isRefused !== true) return false;
    if (!JSON.stringify(args[1]).includes(awaited.word)) return false;
    this.#awaited = undefined;
    awaited.reached();
    this.cutOff(50);
    return true;
  }

  /** What is done to the host comes before the answer. */
  async #noteStored(entries: string): Promise<void> {
    const awaited = this.#awaited;
    if (awaited === undefined || awaited.isRefused || !entries.includes(awaited.word)) return;
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

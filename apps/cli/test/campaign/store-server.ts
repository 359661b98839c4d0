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
      return { result: (await call.apply(this.#store, [...args])) ?? null };
    } catch (error) {
      const { code = "unavailable", message } = error as { code?: string; message: string };
      return { code, message };
    }
  }
}

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import {
  MemorySessionStore,
  type SessionKey,
  type StoreEntry,
} from "../../../../packages/sessions/src/index.ts";

type Call = { readonly method: string; readonly args: readonly unknown[] };

/** An append of a round that waits for what happens to its host. */
export interface HeldAppend {
  /** Fulfilled when it has come, and waits. */
  readonly held: Promise<void>;
  /** Lets it go on: an entry that is not stored never is. */
  release(): void;
}

interface Hold {
  readonly word: string;
  /** Before it is stored, or before its host knows that it is. */
  readonly isBefore: boolean;
  passed: number;
  readonly reached: () => void;
  readonly released: Promise<void>;
}

/** The first argument is a key, or a lease of one. */
function projectOf({ args: [first] }: Call): string {
  const { projectKey, key } = first as Partial<SessionKey> & { readonly key?: SessionKey };
  return projectKey ?? key?.projectKey ?? "";
}

/** Keeps the sessions of rounds, each in a project of its own; what has come before it is cut off is stored. */
export class StoreServer {
  readonly #store = new MemorySessionStore();
  readonly #server: Server;
  readonly #cutOffUntil = new Map<string, number>();
  readonly #heldUntil = new Map<string, number>();
  readonly #holds = new Map<string, Hold>();

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
        const body = JSON.parse(Buffer.concat(chunks).toString()) as Call;
        const project = projectOf(body);
        if (this.#isCutOff(project) || (await this.#refuses(project, body)))
          return request.socket.destroy();
        const answer = await this.#answer(project, body);
        // It may have been cut off before its answer.
        if (this.#isCutOff(project)) request.socket.destroy();
        else response.end(JSON.stringify(answer));
      });
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  /** Holds the append of an entry with this word, after so many others: a lease is renewed meanwhile. */
  hold(project: string, word: string, { isBefore = false, passed = 0 }): HeldAppend {
    const { promise: held, resolve: reached } = Promise.withResolvers<void>();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    this.#holds.set(project, { word, isBefore, passed, reached, released });
    return {
      held,
      release: () => {
        this.#holds.delete(project);
        release();
      },
    };
  }

  #isCutOff(project: string): boolean {
    return performance.now() < (this.#cutOffUntil.get(project) ?? 0);
  }

  /** Takes no more calls of a project, and answers none, for a time. */
  cutOff(project: string, ms: number): void {
    const until = Math.max(this.#cutOffUntil.get(project) ?? 0, performance.now() + ms);
    this.#cutOffUntil.set(project, until);
  }

  /** Fulfilled when no lease keeps a host from the sessions of a project, if nobody renews it. */
  async isFree(project: string): Promise<void> {
    await pause(Math.max(0, (this.#heldUntil.get(project) ?? 0) - performance.now()));
  }

  async entries(key: SessionKey): Promise<readonly StoreEntry[]> {
    return (await this.#store.load(key)) ?? [];
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /** Whether an append is the one that is not stored; so is all that follows at once. */
  async #refuses(project: string, call: Call): Promise<boolean> {
    const hold = this.#holdOf(project, call, true);
    if (hold === undefined) return false;
    await hold.released;
    this.cutOff(project, 50);
    return true;
  }

  #holdOf(project: string, { method, args }: Call, isBefore: boolean): Hold | undefined {
    const hold = this.#holds.get(project);
    if (method !== "append" || hold?.isBefore !== isBefore) return undefined;
    if (!JSON.stringify(args[1]).includes(hold.word)) return undefined;
    hold.passed -= 1;
    if (hold.passed >= 0) return undefined;
    this.#holds.delete(project);
    hold.reached();
    return hold;
  }

  async #answer(project: string, call: Call): Promise<object> {
    const { method, args } = call;
    try {
      const [key, bytes] = args as [SessionKey, string];
      if (method === "putBlob") {
        return { result: await this.#store.putBlob(key, Buffer.from(bytes, "base64")) };
      }
      if (method === "getBlob") {
        const found = await this.#store.getBlob(key, bytes);
        return { result: found && Buffer.from(found).toString("base64") };
      }
      const ask = Reflect.get(this.#store, method) as (...of: readonly unknown[]) => unknown;
      const result = (await ask.apply(this.#store, [...args])) ?? null;
      if (method === "acquire" || method === "renew")
        this.#heldUntil.set(project, performance.now() + Number(args[1]));
      if (method === "release") this.#heldUntil.delete(project);
      await this.#holdOf(project, call, false)?.released;
      return { result };
    } catch (error) {
      const { code = "unavailable", message } = error as { code?: string; message: string };
      return { code, message };
    }
  }
}

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import {
  MemorySessionStore,
  type SessionKey,
  type StoreEntry,
} from "../../../../packages/sessions/src/index.ts";

type Call = { readonly method: string; readonly args: readonly unknown[] };

/** An append that the store holds until the round's fault is applied. */
export interface HeldAppend {
  /** Resolves when the append has arrived and is held. */
  readonly held: Promise<void>;
  /** Releases the append; if it was held before it was stored, it is never stored. */
  release(): void;
}

interface Hold {
  readonly word: string;
  /** Whether to hold the append before it is stored, instead of before its host gets the answer. */
  readonly isBefore: boolean;
  passed: number;
  readonly reached: () => void;
  readonly released: Promise<void>;
}

/** The first argument contains the project, in a key or in a lease. */
function projectOf({ args: [first] }: Call): string {
  const { projectKey, key } = first as Partial<SessionKey> & { readonly key?: SessionKey };
  return projectKey ?? key?.projectKey ?? "";
}

/** Stores the sessions of rounds, each in its own project. Calls that arrived before a cut-off are still stored. */
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
        // The project may have been cut off before the answer was ready.
        if (this.#isCutOff(project)) request.socket.destroy();
        else response.end(JSON.stringify(answer));
      });
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  /** Holds the append of an entry that contains this word, after skipping some. Leases can still be renewed. */
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

  /** Ignores all calls of a project for a while, including those whose answers are pending. */
  cutOff(project: string, ms: number): void {
    const until = Math.max(this.#cutOffUntil.get(project) ?? 0, performance.now() + ms);
    this.#cutOffUntil.set(project, until);
  }

  /** Resolves when all leases on the sessions of a project have expired, unless one is renewed. */
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

  /** Whether this append must not be stored; calls right after it are refused as well. */
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

import type { SessionStore } from "@tau-agent/sessions";
import { type StoreLease } from "../../../../sessions/src/log/store/session-store.ts";
import { MemorySessionStore } from "../../../../sessions/src/stores/memory/memory-session-store.ts";

/** An in-memory store whose writes can be held back, refused or delayed. */
export class TroubledStore extends MemorySessionStore implements SessionStore {
  /** The tokens of the stored writes, in order. */
  readonly tokens: number[] = [];
  lease: StoreLease | undefined;
  /** How many writes were attempted. */
  attempts = 0;
  #gate: PromiseWithResolvers<void> | undefined;
  #failure: Error | undefined;

  /** Holds back all writes from now on. */
  hold(): void {
    this.#gate = Promise.withResolvers();
  }

  /** Releases waiting and later writes. */
  letGo(): void {
    this.#gate?.resolve();
    this.#gate = undefined;
  }

  /** Makes writes fail with this error from now on; without an error they work again. */
  fail(failure?: Error): void {
    this.#failure = failure;
  }

  override async acquire(...given: Parameters<SessionStore["acquire"]>): Promise<StoreLease> {
    this.lease = await super.acquire(...given);
    return this.lease;
  }

  override async append(...given: Parameters<SessionStore["append"]>): Promise<void> {
    this.attempts += 1;
    if (this.#failure !== undefined) throw this.#failure;
    await this.#gate?.promise;
    await super.append(...given);
    this.tokens.push(given[2].token);
  }
}

import type { SessionStore } from "@tau-agent/sessions";
import { type StoreLease } from "../../../../sessions/src/log/store/session-store.ts";
import { MemorySessionStore } from "../../../../sessions/src/stores/memory/memory-session-store.ts";

/** A store in memory whose writes can be held up, refused, or arrive late. */
export class TroubledStore extends MemorySessionStore implements SessionStore {
  /** Tokens of the writes that were stored, in order. */
  readonly tokens: number[] = [];
  lease: StoreLease | undefined;
  /** How many writes were tried. */
  attempts = 0;
  #gate: PromiseWithResolvers<void> | undefined;
  #failure: Error | undefined;

  /** Writes wait from now on. */
  hold(): void {
    this.#gate = Promise.withResolvers();
  }

  /** Writes that wait, and later ones, go on. */
  letGo(): void {
    this.#gate?.resolve();
    this.#gate = undefined;
  }

  /** Writes fail with this from now on; without it they work again. */
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

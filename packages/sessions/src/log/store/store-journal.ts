import { setTimeout as pause } from "node:timers/promises";
import { errorMessage, SessionError } from "@tau-agent/rpc-protocol/plain";
import { within } from "@tau-agent/system";
import type { SessionKey, StoreEntry, StoreLease } from "./session-store.ts";
import {
  placeOf,
  referenceOf,
  type StoreAccess,
  type StoreReports,
  storeErrorCode,
} from "./store-access.ts";

/** A store that has not acknowledged after this time counts as slow. */
const SLOW_MS = 500;
/** The pause before the first retry of a failed call; it doubles each time. */
const PAUSE_MS = 100;
const MAX_PAUSE_MS = 2_000;
/** How long closing a session may wait for its store. */
const CLOSING_MS = 3_000;

/** A caller that waits until this many lines are acknowledged. */
interface Waiting {
  readonly lines: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The only writer of a session in a store. Added lines are written in order; the slower the store, the
 * larger the batches. {@link stored} tells when they are written. The lease is taken with the first
 * write unless the session was opened with one, and is renewed until the end.
 */
export class StoreJournal {
  readonly key: SessionKey;
  readonly #access: StoreAccess;
  #reports: StoreReports | undefined;
  #lease: StoreLease | undefined;
  #renewal: NodeJS.Timeout | undefined;
  #outbox: object[] = [];
  #added = 0;
  #acknowledged = 0;
  #isWriting = false;
  #waiting: Waiting[] = [];
  /** Why no more lines are written. */
  #ended: SessionError | undefined;
  /** Rejects once a session that is being closed has waited long enough. */
  readonly #hurry = Promise.withResolvers<never>();

  /** @param opened - the lease with which the session was opened, and its number of lines */
  constructor(
    access: StoreAccess,
    key: SessionKey,
    opened?: { readonly lease: StoreLease; readonly lines: number },
  ) {
    this.#access = access;
    this.key = key;
    this.#hurry.promise.catch(() => undefined);
    if (opened === undefined) return;
    this.#acknowledged = opened.lines;
    this.#added = opened.lines;
    this.#keep(opened.lease);
  }

  get acknowledged(): number {
    return this.#acknowledged;
  }

  /** The token of its lease; undefined before the first write. */
  get token(): number | undefined {
    return this.#lease?.token;
  }

  /** Whether writes are refused until {@link recover}. */
  get hasFailed(): boolean {
    return this.#ended?.code === "session_write_failed";
  }

  follow(reports: StoreReports): void {
    this.#reports = reports;
  }

  /**
   * Adds lines; they are written soon.
   *
   * @throws {SessionError} `session_lost`, `session_write_failed`, `disposed`
   */
  add(lines: readonly object[]): void {
    this.check();
    this.#outbox.push(...lines);
    this.#added += lines.length;
    if (!this.#isWriting) void this.#write();
  }

  /**
   * Checks whether the session can be written.
   *
   * @throws {SessionError} `session_lost`, `session_write_failed`, `disposed`
   */
  check(): void {
    if (this.#ended !== undefined) throw this.#ended;
  }

  /**
   * Fulfilled once all added lines are acknowledged; undefined if they already are. Rejects with
   * {@link SessionError} `session_write_failed` or `session_lost`.
   */
  stored(): Promise<void> | undefined {
    if (this.#acknowledged === this.#added) return undefined;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({ lines: this.#added, resolve, reject });
    return promise;
  }

  /**
   * Starts again after a failure, with a new lease: the store refuses an earlier write that is still in transit.
   *
   * @returns the entries in the store
   * @throws {SessionError} `session_write_failed`, `session_lost`
   */
  async recover(): Promise<StoreEntry[] | null> {
    const { store, timeoutMs } = this.#access;
    const deadline = performance.now() + timeoutMs;
    const old = this.#lease;
    this.#stopRenewal();
    try {
      if (old !== undefined) await this.#within(deadline, store.release(old));
      const lease = await this.#within(deadline, this.#acquire());
      const entries = await this.#within(deadline, store.load(lease.key));
      this.#ended = undefined;
      this.#outbox = [];
      this.#acknowledged = entries?.length ?? 0;
      this.#added = this.#acknowledged;
      this.#keep(lease);
      return entries;
    } catch (error) {
      if (storeErrorCode(error) !== "lease_held") throw this.#failure(error);
      this.#ended = undefined;
      this.#end(this.#lose());
      throw this.#lose();
    }
  }

  /**
   * Asks the store whether this host still holds the session.
   *
   * @throws {SessionError} `session_lost`, `session_write_failed`
   */
  async confirm(): Promise<void> {
    this.check();
    const lease = this.#lease;
    if (lease === undefined) return;
    const { store, leaseMs } = this.#access;
    await this.#repeated(() => store.renew(lease, leaseMs)).catch((error: unknown) => {
      throw this.#failure(error);
    });
  }

  /** Writes the remaining lines, if that takes a short time, and releases the lease. */
  async close(): Promise<void> {
    const timer = setTimeout(() => {
      this.#hurry.reject(new Error("the session ended"));
    }, CLOSING_MS);
    try {
      await this.stored()?.catch(() => undefined);
      this.#stopRenewal();
      this.#ended ??= new SessionError("disposed");
      if (this.#lease === undefined || this.#ended.code === "session_lost") return;
      const released = this.#access.store.release(this.#lease).catch(() => undefined);
      await Promise.race([released, this.#hurry.promise]).catch(() => undefined);
    } finally {
      clearTimeout(timer);
    }
  }

  async #write(): Promise<void> {
    this.#isWriting = true;
    try {
      // Calls within one turn of the event loop go into one batch.
      await Promise.resolve();
      while (this.#outbox.length > 0) {
        const batch = this.#outbox;
        this.#outbox = [];
        await this.#writeBatch(batch);
        this.#acknowledged += batch.length;
        this.#settle();
      }
    } catch (error) {
      this.#end(error);
    } finally {
      this.#isWriting = false;
    }
  }

  /** Stores the files that entries name before the entries. */
  async #writeBatch(batch: readonly object[]): Promise<void> {
    const { files, putLog, store } = this.#access;
    let lines = batch;
    if (files !== undefined) {
      const writer = {
        put: (bytes: Uint8Array) => this.#repeated(() => store.putBlob(this.key, bytes)),
        putLog: async (key: SessionKey, path: string) => (await putLog?.(key, path)) ?? false,
      };
      const kept: object[] = [];
      for (const line of batch) kept.push(await files.keep(this.key, line, writer));
      lines = kept;
    }
    await this.#repeated(() => this.#append(lines));
  }

  /** Repeats a call of the store until it succeeds, at most as long as a session may wait. */
  async #repeated<T>(call: () => Promise<T>): Promise<T> {
    const { timeoutMs } = this.#access;
    const deadline = performance.now() + timeoutMs;
    let isSlow = false;
    const slow = setTimeout(() => {
      isSlow = true;
      this.#reports?.onStatus("waiting");
    }, SLOW_MS);
    try {
      for (let pauseMs = PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
        try {
          const result = await this.#within(deadline, call());
          if (isSlow) this.#reports?.onStatus("ok");
          return result;
        } catch (error) {
          if (storeErrorCode(error) === "lease_lost") throw this.#lose();
          if (performance.now() + pauseMs >= deadline) throw error;
          await this.#within(deadline, pause(pauseMs));
        }
      }
    } finally {
      clearTimeout(slow);
    }
  }

  async #append(batch: readonly object[]): Promise<void> {
    if (this.#lease === undefined) this.#keep(await this.#acquire());
    const lease = this.#lease as StoreLease | undefined;
    if (lease === undefined) throw new Error("there is no lease");
    await this.#access.store.append(lease.key, batch, lease);
  }

  #acquire(): Promise<StoreLease> {
    const { store, leaseMs, owner } = this.#access;
    return store.acquire(this.key, leaseMs, owner);
  }

  #keep(lease: StoreLease): void {
    this.#lease = lease;
    this.#stopRenewal();
    this.#renewal = setInterval(() => void this.#renew(), this.#access.leaseMs / 3);
    this.#renewal.unref();
  }

  async #renew(): Promise<void> {
    const { store, leaseMs } = this.#access;
    const lease = this.#lease;
    if (lease === undefined) return;
    try {
      const renewed = await store.renew(lease, leaseMs);
      if (this.#lease?.token === renewed.token) this.#lease = renewed;
    } catch (error) {
      // Other errors are temporary: an expired lease is still valid until another host acquires the session.
      if (storeErrorCode(error) !== "lease_lost" || this.#lease?.token !== lease.token) return;
      this.#end(this.#lose());
    }
  }

  #lose(): SessionError {
    return new SessionError("session_lost", { path: placeOf(this.#access, referenceOf(this.key)) });
  }

  #failure(error: unknown): SessionError {
    if (error instanceof SessionError) return error;
    const path = placeOf(this.#access, referenceOf(this.key));
    const reason = errorMessage(error);
    return new SessionError("session_write_failed", { path, reason }, { cause: error });
  }

  /** Stops writing; the owner is notified before waiting callers. */
  #end(error: unknown): void {
    if (this.#ended !== undefined) return;
    const failure = this.#failure(error);
    this.#ended = failure;
    this.#outbox = [];
    this.#stopRenewal();
    if (failure.code === "session_lost") this.#reports?.onLost();
    else this.#reports?.onFailed();
    for (const { reject } of this.#waiting.splice(0)) reject(failure);
    this.#added = this.#acknowledged;
  }

  #settle(): void {
    const done = this.#waiting.filter(({ lines }) => lines <= this.#acknowledged);
    this.#waiting = this.#waiting.filter(({ lines }) => lines > this.#acknowledged);
    for (const { resolve } of done) resolve();
  }

  #stopRenewal(): void {
    clearInterval(this.#renewal);
    this.#renewal = undefined;
  }

  /** Limits the time of a call, because a store that is down may never answer. */
  async #within<T>(deadline: number, call: Promise<T>): Promise<T> {
    const left = Math.max(0, deadline - performance.now());
    return within(left, Promise.race([call, this.#hurry.promise]), () => {
      throw new Error(`the store did not answer within ${this.#access.timeoutMs} ms`);
    });
  }
}

import { setTimeout as delay } from "node:timers/promises";
import { randomHex } from "@tau-agent/system";
import type {
  LeaseToken,
  SessionKey,
  SessionStore,
  StoreEntry,
  StoreLease,
} from "../../log/store/session-store.ts";
import { isSameJson } from "./same-json.ts";

export interface Check {
  readonly name: string;
  /** Rejects with the reason if the store breaks the contract. `key` is of a session that does not exist yet. */
  readonly run: (bench: Bench, key: SessionKey) => Promise<void>;
}

/** Longer than any check. */
const LONG_MS = 120_000;
const MIN_SHORT_MS = 300;
const MAX_SHORT_MS = 2_000;

/** The store under test, with unique keys and the helpers of the checks. */
export class Bench {
  readonly store: SessionStore;
  readonly projectKey: string;
  /** A lease time short enough to expire within a check, yet long for a call of this store. */
  readonly shortMs: number;
  #entries = 0;

  constructor(store: SessionStore, callMs: number) {
    this.store = store;
    this.projectKey = `conformance ${randomHex(8)}`;
    this.shortMs = Math.min(MAX_SHORT_MS, Math.max(MIN_SHORT_MS, Math.ceil(callMs * 20)));
  }

  key(sessionId = `session ${randomHex(4)}`, subpath?: string): SessionKey {
    return {
      projectKey: this.projectKey,
      sessionId,
      ...(subpath === undefined ? {} : { subpath }),
    };
  }

  header({ sessionId }: SessionKey): StoreEntry {
    const timestamp = new Date().toISOString();
    return { type: "session", version: 3, id: sessionId, timestamp, cwd: "/conformance" };
  }

  entry(members: StoreEntry = {}): StoreEntry {
    this.#entries += 1;
    const id = `${randomHex(4)}-${this.#entries}`;
    const timestamp = new Date().toISOString();
    return { type: "custom", id, parentId: null, timestamp, customType: "conformance", ...members };
  }

  entries(count: number): StoreEntry[] {
    return Array.from({ length: count }, () => this.entry());
  }

  /** Takes a lease that outlives the check. */
  acquire(key: SessionKey): Promise<StoreLease> {
    return this.store.acquire(key, LONG_MS, "conformance");
  }

  /** Takes a lease that expires while the check waits. */
  acquireBriefly(key: SessionKey): Promise<StoreLease> {
    return this.store.acquire(key, this.shortMs, "conformance");
  }

  /** Waits until a brief lease that was just taken or renewed has expired. */
  async outlast(): Promise<void> {
    await delay(this.shortMs * 1.5 + 100);
  }

  async write(key: SessionKey, entries: readonly StoreEntry[]): Promise<StoreEntry[]> {
    const lease = await this.acquire(key);
    const all = [this.header(key), ...entries];
    await this.store.append(key, all, lease);
    await this.store.release(lease);
    return all;
  }

  /** Checks that an append with this token is refused and stores nothing. */
  async isRefused(key: SessionKey, lease: LeaseToken, what: string): Promise<void> {
    const before = await this.store.load(key);
    await rejects("lease_lost", this.store.append(key, this.entries(2), lease), what);
    same(await this.store.load(key), before, `${what} was refused but stored something`);
  }

  async holds(key: SessionKey, expected: readonly StoreEntry[] | null): Promise<void> {
    same(await this.store.load(key), expected, "load() returned something else than was stored");
  }
}

/** @throws with `reason` if the condition is false */
export function ensure(condition: boolean, reason: string): asserts condition {
  if (!condition) throw new Error(reason);
}

/** @throws with `reason` and both values if they are not the same JSON */
export function same(actual: unknown, expected: unknown, reason: string): void {
  ensure(isSameJson(actual, expected), `${reason}: ${brief(actual)} instead of ${brief(expected)}`);
}

/** @throws unless the call rejects with an error of this code */
export async function rejects(code: string, call: Promise<unknown>, what: string): Promise<void> {
  let found: unknown;
  try {
    await call;
  } catch (error) {
    found = (error as { readonly code?: unknown } | null | undefined)?.code;
    ensure(found === code, `${what} failed with code ${brief(found)} instead of ${code}`);
    return;
  }
  throw new Error(`${what} succeeded instead of failing with ${code}`);
}

function brief(value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch {
    // The error cannot be converted to text.
  }
  text ??= String(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

import { join } from "node:path";
import {
  type Diagnostic,
  isRecent,
  readJsonFile,
  SparseMap,
  stampOf,
  statOf,
  unlessAborted,
  withFileLock,
} from "@tau-agent/system";
import { readAuthFile, writeAuthEntry } from "./auth-file.ts";
import { type Credential, isCredential, type OAuthCredential, withKey } from "./credential.ts";
import { canonicalProvider } from "./provider-aliases.ts";

export type { Credential, OAuthCredential } from "./credential.ts";

export type OAuthRefresh = (
  credential: OAuthCredential,
  signal?: AbortSignal,
) => Promise<NewTokens>;

/** Tokens as a vendor gives them; without a refresh token the old one stays valid. */
export interface NewTokens {
  readonly access: string;
  /** Epoch time in ms. */
  readonly expires: number;
  readonly refresh?: string;
  readonly [member: string]: unknown;
}

/** Tokens this close to expiry are renewed, in ms. */
const renewBeforeMs = 5 * 60_000;
/** How long to wait for a vendor's answer, in ms. */
const refreshLimitMs = 30_000;
/** How long to wait for a renewal by another process, in ms. */
const renewWaitMs = refreshLimitMs + 15_000;

/** auth.json as it was last read. */
interface ReadFile {
  readonly credentials: ReadonlyMap<string, Credential>;
  readonly diagnostics: readonly Diagnostic[];
  /** The stamp of the file that was read; undefined if a change might not alter it. */
  readonly stamp: string | undefined;
}

/** The user's stored credentials: `auth.json`, mode 0600, read again once it has changed. */
export class AuthStore {
  readonly path: string;
  #read: Promise<ReadFile> | undefined;
  #last: ReadFile | undefined;
  readonly #renewals = new SparseMap<string, Promise<OAuthCredential | undefined>>();
  /** The last renewed tokens, by provider, with half of their lifetime. */
  readonly #arrived = new SparseMap<
    string,
    { readonly access: string; readonly marginMs: number }
  >();

  constructor(agentDirectory: string) {
    this.path = join(agentDirectory, "auth.json");
  }

  /** Problems found when the file was last read. */
  get diagnostics(): readonly Diagnostic[] {
    return this.#last?.diagnostics ?? [];
  }

  /** Every stored credential by provider. Never rejects. */
  async all(): Promise<ReadonlyMap<string, Credential>> {
    // A login in another process takes effect with the next request.
    const stamp = stampNow(this.path);
    if (this.#last !== undefined && (stamp === undefined || stamp !== this.#last.stamp)) {
      this.#read = undefined;
    }
    this.#read ??= this.#readFile(stamp);
    return (await this.#read).credentials;
  }

  async get(provider: string): Promise<Credential | undefined> {
    return (await this.all()).get(provider);
  }

  /** Drops the cached content, so that the next call reads the file again. */
  reload(): void {
    this.#read = undefined;
  }

  /**
   * Stores a credential; `undefined` removes it. Other entries stay unchanged.
   * @throws {SessionError} `invalid_settings` if the file does not parse; it stays unchanged.
   */
  async set(provider: string, credential: Credential | undefined): Promise<void> {
    await this.update(provider, () => credential);
  }

  /**
   * Replaces a provider's credential by one derived from it, while no other process writes; `undefined` removes it.
   *
   * @throws {SessionError} `invalid_settings` if the file does not parse; it stays unchanged
   */
  async update(
    provider: string,
    make: (current: unknown) => Credential | undefined,
  ): Promise<void> {
    await withFileLock(this.path, async (target) => {
      const file = await readAuthFile(target);
      const name = storedName(file.entries, provider);
      const next = make(file.entries.get(name));
      if (next === undefined && !file.entries.has(name)) return;
      await writeAuthEntry(target, file, [name, next]);
    });
    this.reload();
  }

  /**
   * Removes all logins; keys stay.
   *
   * @throws {SessionError} `invalid_settings` if the file does not parse; it stays unchanged
   */
  async removeLogins(): Promise<void> {
    await withFileLock(this.path, async (target) => {
      let file = await readAuthFile(target);
      const logins = [...file.entries].filter(([, value]) => Object(value).type === "oauth");
      for (const [name] of logins) {
        await writeAuthEntry(target, file, [name, undefined]);
        file = await readAuthFile(target);
      }
    });
    this.reload();
  }

  /**
   * The login's tokens, renewed if they expire within five minutes or if the vendor has `refused` them. One process
   * renews, under the file's lock; the others read its result. New tokens are on disk before they are used.
   */
  async freshTokens(
    provider: string,
    refresh: OAuthRefresh,
    { refused, now = Date.now }: { refused?: string | undefined; now?: () => number } = {},
  ): Promise<OAuthCredential | undefined> {
    const known = await this.get(provider);
    if (known?.type !== "oauth") return undefined;
    if (known.access !== refused && this.#isFresh(provider, known, now())) return known;
    const running = this.#renewals.get(provider);
    if (running !== undefined) return running;
    const renewal = this.#renew(provider, refresh, { known, refused, now }).finally(() => {
      this.#renewals.delete(provider);
    });
    this.#renewals.set(provider, renewal);
    return renewal;
  }

  /** Resolves once all tokens that vendors have issued are stored. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#renewals.values());
  }

  #isFresh(provider: string, { access, expires }: OAuthCredential, now: number): boolean {
    const arrived = this.#arrived.get(provider);
    const marginMs = arrived?.access === access ? arrived.marginMs : renewBeforeMs;
    return expires - now > Math.min(renewBeforeMs, marginMs);
  }

  async #renew(
    provider: string,
    refresh: OAuthRefresh,
    {
      known,
      refused,
      now,
    }: { known: OAuthCredential; refused: string | undefined; now: () => number },
  ): Promise<OAuthCredential | undefined> {
    const renew = async (target: string): Promise<OAuthCredential | undefined> => {
      const current = (await readAuthFile(target)).entries.get(provider);
      if (!isCredential(current) || current.type !== "oauth") return undefined;
      const isOthers = current.access !== known.access && current.expires > now();
      if (current.access !== refused && (isOthers || this.#isFresh(provider, current, now()))) {
        this.#noteArrival(provider, current, now());
        return current;
      }
      // A vendor that never answers must not hold the lock forever.
      const signal = AbortSignal.timeout(refreshLimitMs);
      const renewed = await unlessAborted(refresh(current, signal), signal, () => {
        return new Error(`the server did not answer within ${refreshLimitMs / 1000} s`);
      });
      const { refresh: token = current.refresh, ...rest } = renewed;
      const next: OAuthCredential = { ...current, ...rest, type: "oauth", refresh: token };
      // Read again: an editor, or a program without locks, may have changed the file meanwhile.
      const file = await readAuthFile(target);
      const latest = file.entries.get(provider);
      if (JSON.stringify(latest) !== JSON.stringify(current)) {
        return isCredential(latest) && latest.type === "oauth" ? latest : undefined;
      }
      await writeAuthEntry(target, file, [provider, next]);
      this.#noteArrival(provider, next, now());
      return next;
    };
    try {
      return await withFileLock(this.path, renew, { waitMs: renewWaitMs });
    } finally {
      this.reload();
    }
  }

  /** Notes the lifetime: tokens that expire in less than five minutes would otherwise be renewed for each request. */
  #noteArrival(provider: string, { access, expires }: OAuthCredential, now: number): void {
    this.#arrived.set(provider, { access, marginMs: Math.max(0, expires - now) / 2 });
  }

  async #readFile(stamp: string | undefined): Promise<ReadFile> {
    const file = await readJsonFile(this.path);
    const diagnostics: Diagnostic[] = file.kind === "unreadable" ? [file.diagnostic] : [];
    const credentials = new Map<string, Credential>();
    const entries = file.kind === "object" ? file.value : {};
    for (const [provider, value] of Object.entries(entries)) {
      const id = canonicalProvider(provider);
      const isOlder = id !== provider && entries[id] !== undefined;
      const credential = withKey(value);
      if (isOlder) continue;
      if (isCredential(credential)) credentials.set(id, credential);
      else {
        const message = `The entry ${provider} of ${this.path} is neither an api_key nor an oauth credential; it is ignored`;
        const reason = `${provider} must be {"type": "api_key", "key": "…"}, or what a login wrote`;
        const place = { path: this.path, member: provider };
        diagnostics.push({ severity: "warning", message, ...place, reason });
      }
    }
    this.#last = { credentials, diagnostics, stamp };
    return this.#last;
  }
}

/** The provider's name in the file, which may be a former one. */
function storedName(entries: ReadonlyMap<string, unknown>, provider: string): string {
  if (entries.has(provider)) return provider;
  return [...entries.keys()].find((name) => canonicalProvider(name) === provider) ?? provider;
}

/** Changes when the file has changed; undefined if the next change might not show. */
function stampNow(path: string): string | undefined {
  const found = statOf(path);
  if (found === undefined) return "missing";
  return isRecent(found) ? undefined : stampOf(found);
}

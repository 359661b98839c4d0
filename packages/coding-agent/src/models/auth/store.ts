import { chmod } from "node:fs/promises";
import { join } from "node:path";
import type { Diagnostic } from "../../base/diagnostic.ts";
import { SessionError } from "../../base/errors.ts";
import { isJsonObject, type JsonObject, readJsonFile } from "../../base/files/read-json.ts";
import { withFileLock } from "../../base/files/file-lock.ts";
import { writeFileAtomic } from "../../base/files/write-file.ts";

/** A key as auth.json holds it; `key` may be a template or a command. */
interface ApiKeyCredential {
  readonly type: "api_key";
  readonly key: string;
}

/** Tokens of a login; a vendor's own members stay as they are. */
export interface OAuthCredential {
  readonly type: "oauth";
  readonly refresh: string;
  readonly access: string;
  /** Epoch time in ms. */
  readonly expires: number;
  readonly [member: string]: unknown;
}

/** What auth.json holds for one provider. */
export type Credential = ApiKeyCredential | OAuthCredential;

/** Trades a login's refresh token for new tokens. */
export type OAuthRefresh = (
  credential: OAuthCredential,
  signal?: AbortSignal,
) => Promise<Omit<OAuthCredential, "type" | "refresh"> & { readonly refresh?: string }>;

/** Tokens this close to expiry are renewed, in ms. */
const renewBeforeMs = 5 * 60_000;

function isCredential(value: unknown): value is Credential {
  if (!isJsonObject(value)) return false;
  if (value.type === "api_key") return typeof value.key === "string";
  return (
    value.type === "oauth" && typeof value.access === "string" && typeof value.expires === "number"
  );
}

/** The user's stored credentials: `auth.json`, mode 0600, read once when first needed. */
export class AuthStore {
  readonly path: string;
  #loading: Promise<ReadonlyMap<string, Credential>> | undefined;
  #diagnostics: Diagnostic[] = [];

  constructor(agentDirectory: string) {
    this.path = join(agentDirectory, "auth.json");
  }

  /** Problems found when the file was last read. */
  get diagnostics(): readonly Diagnostic[] {
    return this.#diagnostics;
  }

  /** Every stored credential by provider. Never rejects. */
  all(): Promise<ReadonlyMap<string, Credential>> {
    this.#loading ??= this.#read();
    return this.#loading;
  }

  async get(provider: string): Promise<Credential | undefined> {
    return (await this.all()).get(provider);
  }

  /** Drops the cached content; the next call reads the file again. */
  reload(): void {
    this.#loading = undefined;
  }

  /**
   * Stores a credential; `undefined` removes it. Other entries stay as they are.
   * @throws {SessionError} `invalid_settings` when the file does not parse; it is left as it is.
   */
  async set(provider: string, credential: Credential | undefined): Promise<void> {
    await this.#change((entries) => {
      if (credential === undefined) entries.delete(provider);
      else entries.set(provider, credential);
      return Promise.resolve();
    });
  }

  /**
   * The login's tokens, renewed if they expire within five minutes or if the vendor has `refused`
   * them. One process renews, under the file's lock; the others read its result. New tokens are on
   * disk before they are used.
   */
  async freshTokens(
    provider: string,
    refresh: OAuthRefresh,
    { refused, now = Date.now }: { refused?: string | undefined; now?: () => number } = {},
  ): Promise<OAuthCredential | undefined> {
    const isFresh = (found: Credential | undefined) =>
      found?.type === "oauth" && found.access !== refused && found.expires - now() > renewBeforeMs;
    const known = await this.get(provider);
    if (known?.type === "oauth" && isFresh(known)) return known;
    let result: OAuthCredential | undefined;
    await this.#change(async (entries) => {
      const current = entries.get(provider);
      if (!isCredential(current) || current.type !== "oauth") return;
      result = current;
      if (isFresh(current)) return;
      const renewed = await refresh(current);
      result = {
        ...current,
        ...renewed,
        type: "oauth",
        refresh: renewed.refresh ?? current.refresh,
      };
      entries.set(provider, result);
    });
    return result;
  }

  async #read(): Promise<ReadonlyMap<string, Credential>> {
    this.#diagnostics = [];
    const file = await readJsonFile(this.path);
    if (file.kind === "unreadable") this.#diagnostics = [file.diagnostic];
    const credentials = new Map<string, Credential>();
    if (file.kind !== "object") return credentials;
    for (const [provider, value] of Object.entries(file.value)) {
      if (isCredential(value)) credentials.set(provider, value);
      else {
        const message = `The entry ${provider} of ${this.path} is neither an api_key nor an oauth credential; it is ignored`;
        this.#diagnostics.push({ severity: "warning", message, path: this.path });
      }
    }
    return credentials;
  }

  async #change(edit: (entries: Map<string, unknown>) => Promise<void>): Promise<void> {
    await withFileLock(this.path, async (target) => {
      const file = await readJsonFile(target);
      if (file.kind === "unreadable") {
        const { message } = file.diagnostic;
        throw new SessionError("invalid_settings", { path: this.path, reason: message });
      }
      const entries = new Map(Object.entries(file.kind === "object" ? file.value : {}));
      const before = JSON.stringify([...entries]);
      await edit(entries);
      if (JSON.stringify([...entries]) === before) return;
      const value: JsonObject = Object.fromEntries(entries);
      await writeFileAtomic(target, `${JSON.stringify(value, null, 2)}\n`);
      await chmod(target, 0o600);
    });
    this.reload();
  }
}

import type { SessionEntry, SessionHeader } from "@tau-agent/rpc-protocol";
import { partName } from "../store/named-files.ts";
import { parseStored } from "../store/open-stored-session.ts";
import type { SessionPart } from "../store/session-part.ts";
import { keyOf, referenceOf, type StoreAccess } from "../store/store-access.ts";
import type { StoreJournal } from "../store/store-journal.ts";
import { openStoredPart } from "../store/stored-part.ts";
import type { LogOwner, LogParts, LogWriter, Ownership } from "./log-writer.ts";

/**
 * Writes a session to a store. Entries are in memory immediately, so that the next one can follow, but nothing is
 * announced before {@link stored} resolves. Entries that the store does not accept are removed from memory.
 */
export class StoreWriter implements LogWriter, LogParts {
  readonly path = undefined;
  readonly #access: StoreAccess;
  readonly #journal: StoreJournal;
  #isBegun: boolean;

  constructor(
    { access, journal }: { readonly access: StoreAccess; readonly journal: StoreJournal },
    owner: LogOwner,
  ) {
    this.#access = access;
    this.#journal = journal;
    this.#isBegun = journal.acknowledged > 0;
    journal.follow({
      onStatus: owner.onStatus,
      onLost: () => owner.onLost(this.#takeBack()),
      onFailed: () => owner.onFailed(this.#takeBack()),
    });
  }

  get reference(): string {
    return referenceOf(this.#journal.key);
  }

  get ownership(): Ownership | undefined {
    const { token, key } = this.#journal;
    return token === undefined ? undefined : { key: JSON.stringify(key), epoch: token };
  }

  get isBegun(): boolean {
    return this.#isBegun;
  }

  get parts(): LogParts {
    return this;
  }

  begin(lines: readonly (SessionHeader | SessionEntry)[]): void {
    this.#journal.add(lines);
    this.#isBegun = true;
  }

  append(entries: readonly SessionEntry[]): true {
    this.#journal.add(entries);
    return true;
  }

  /** The store itself decides when to flush. */
  endTurn(): void {}

  check(): void {
    this.#journal.check();
  }

  stored(): Promise<void> | undefined {
    return this.#journal.stored();
  }

  recover(): Promise<readonly SessionEntry[] | undefined> | undefined {
    if (this.#journal.hasFailed) return this.#readAgain();
    this.#journal.check();
    return undefined;
  }

  close(): Promise<void> {
    return this.#journal.close();
  }

  /** Asks the store first: a host that lost the session must not begin a part of it. */
  async openPart(toolCallId: string, id: string): Promise<SessionPart> {
    await this.#journal.confirm();
    const { key } = this.#journal;
    const name = partName(toolCallId, id);
    const subpath = key.subpath === undefined ? name : `${key.subpath}/${name}`;
    return openStoredPart(this.#access, { ...key, subpath });
  }

  async readPart(reference: string): Promise<readonly object[] | undefined> {
    const key = keyOf(this.#access, reference);
    const lines = await this.#access.store.load(key);
    const { files } = this.#access;
    return lines?.map((line) => files?.take(key, line) ?? line);
  }

  restoreNamed(args: unknown): Promise<void> | undefined {
    return this.#access.files?.restoreNamed(args);
  }

  async #readAgain(): Promise<readonly SessionEntry[] | undefined> {
    const lines = await this.#journal.recover();
    if (lines === null) return undefined;
    this.#isBegun = true;
    return parseStored(this.#access, this.#journal.key, lines).entries;
  }

  #takeBack(): number {
    const lines = this.#journal.acknowledged;
    this.#isBegun = lines > 0;
    return lines;
  }
}

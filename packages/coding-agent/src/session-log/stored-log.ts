import type { SessionEntry } from "@tau-agent/rpc-protocol";
import { isUserMessage, type LogParts, type NewEntry, SessionLog } from "./session-log.ts";
import { partName } from "./store/named-files.ts";
import { parseStored } from "./store/open-stored-session.ts";
import type { SessionPart } from "./store/session-part.ts";
import { referenceOf, type StoreAccess, type StoreReports } from "./store/store-access.ts";
import type { StoreJournal } from "./store/store-journal.ts";
import { StoredPart } from "./store/stored-part.ts";

/**
 * A session that lives in a store. Entries are in memory at once, so that the next one can follow
 * them, but nothing is announced before {@link stored} is fulfilled. What the store does not take
 * leaves the memory again.
 */
export class StoredLog extends SessionLog {
  readonly #access: StoreAccess;
  readonly #journal: StoreJournal;
  /** The header has been handed to the store. */
  #isBegun: boolean;
  /** Entries that wait for the first user message. */
  #unwritten: SessionEntry[] = [];
  /** Entries that are written with the next one. */
  #deferred: SessionEntry[] = [];

  /** @param entries - what the store has; undefined if it has nothing of the session */
  constructor(
    parts: LogParts,
    { access, journal }: { access: StoreAccess; journal: StoreJournal },
    entries?: readonly SessionEntry[],
  ) {
    super(parts, "none");
    this.#access = access;
    this.#journal = journal;
    this.#isBegun = entries !== undefined;
    if (entries !== undefined) this.replaceEntries(entries);
  }

  override get isStored(): boolean {
    return true;
  }

  override get reference(): string | undefined {
    return referenceOf(this.#journal.key);
  }

  override appendLater(entry: NewEntry): void {
    const ordered = this.complete(entry);
    (this.#isBegun ? this.#deferred : this.#unwritten).push(ordered);
    this.adopt(ordered);
  }

  override takeOver(entries: readonly SessionEntry[]): void {
    if (entries.some(isUserMessage)) this.#add(entries);
    else this.#unwritten = [...entries];
    for (const entry of entries) this.adopt(entry);
  }

  override stored(): Promise<void> | undefined {
    return this.#journal.stored();
  }

  override recover(): Promise<void> | undefined {
    if (this.#journal.hasFailed) return this.#readAgain();
    this.#journal.check();
    return undefined;
  }

  override follow({ onStatus, onLost, onFailed }: StoreReports): void {
    this.#journal.follow({
      onStatus,
      onLost: () => {
        this.#rollBack();
        onLost();
      },
      onFailed: () => {
        this.#rollBack();
        onFailed();
      },
    });
  }

  /** The store is asked first: a host that lost the session begins no part of it. */
  override async openPart(toolCallId: string, id: string): Promise<SessionPart> {
    await this.#journal.confirm();
    const { key } = this.#journal;
    const name = partName(toolCallId, id);
    const subpath = key.subpath === undefined ? name : `${key.subpath}/${name}`;
    return StoredPart.open(this.#access, { ...key, subpath });
  }

  override restoreNamed(args: unknown): Promise<void> | undefined {
    return this.#access.files?.restoreNamed(args);
  }

  override close(): Promise<void> {
    super.close();
    return this.#journal.close();
  }

  protected override write(entry: SessionEntry): void {
    this.#journal.check();
    if (this.#isBegun || isUserMessage(entry)) this.#add([entry]);
    else this.#unwritten.push(entry);
  }

  #add(entries: readonly SessionEntry[]): void {
    const before = this.#isBegun ? this.#deferred : [this.header, ...this.#unwritten];
    this.#journal.add([...before, ...entries]);
    this.#isBegun = true;
    this.#deferred = [];
    this.#unwritten = [];
  }

  async #readAgain(): Promise<void> {
    const lines = await this.#journal.recover();
    if (lines === null) return;
    this.replaceEntries(parseStored(this.#access, this.#journal.key, lines).entries);
    this.#isBegun = true;
  }

  #rollBack(): void {
    const lines = this.#journal.acknowledged;
    const entries = [...this.tree.entries];
    this.#deferred = [];
    this.#isBegun = lines > 0;
    const first = entries.findIndex(isUserMessage);
    // With nothing in the store, what came before the first message waits for the next one.
    if (!this.#isBegun) this.#unwritten = first === -1 ? entries : entries.slice(0, first);
    this.replaceEntries(this.#isBegun ? entries.slice(0, lines - 1) : this.#unwritten);
  }
}

import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import { SessionStoreError, type StoreEntry } from "../../log/store/session-store.ts";

export interface EntryLine {
  readonly id: string | undefined;
  /** JSON without a line feed. */
  readonly text: string;
}

/**
 * Entries as text. Text preserves what databases drop from JSON: NUL, lone surrogates, `__proto__`.
 *
 * @throws {SessionStoreError} `invalid_argument` for what JSON cannot express
 */
export function entryLines(entries: readonly object[]): EntryLine[] {
  return entries.map((entry) => {
    const { id } = entry as { readonly id?: unknown };
    return { id: typeof id === "string" ? id : undefined, text: textOf(entry) };
  });
}

export function parseEntry(text: string): StoreEntry {
  return JSON.parse(text) as StoreEntry;
}

/** The lines whose ids are not in `known`, each id once; does not change `known`. */
export function unknownLines(
  lines: readonly EntryLine[],
  known: { has(id: string): boolean },
): EntryLine[] {
  const added = new Set<string>();
  return lines.filter(({ id }) => {
    if (id === undefined) return true;
    if (known.has(id) || added.has(id)) return false;
    added.add(id);
    return true;
  });
}

function textOf(entry: unknown): string {
  try {
    if (isJsonObject(entry)) return JSON.stringify(entry);
  } catch (cause) {
    const text = "an entry cannot be written as JSON";
    throw new SessionStoreError("invalid_argument", text, { cause });
  }
  throw new SessionStoreError("invalid_argument", "entries must be objects");
}

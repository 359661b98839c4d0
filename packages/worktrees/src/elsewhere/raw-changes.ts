/** One side of a change; absent where there is no file. */
interface RawState {
  readonly mode: string;
  readonly id: string;
}

export interface RawChange {
  /** A character stands for a byte. */
  readonly path: string;
  readonly before: RawState | undefined;
  readonly after: RawState | undefined;
}

/** Reads what `git diff-tree -r -z --raw --no-renames --no-abbrev` prints, split at the NUL bytes. */
export function parseRawChanges(parts: readonly string[]): RawChange[] {
  const changes: RawChange[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [oldMode = "", mode = "", oldId = "", id = ""] = (parts[at] ?? "").slice(1).split(" ");
    changes.push({
      path: parts[at + 1] ?? "",
      before: oldMode === "000000" ? undefined : { mode: oldMode, id: oldId },
      after: mode === "000000" ? undefined : { mode, id },
    });
  }
  return changes;
}

import type { FoundLine } from "../common/found-lines.ts";

const maxCharacters = 1024 * 1024;

/**
 * Lines of files that are searched at the same time, up to the number of matches needed. If there are
 * more, the order in which they were found decides which ones are kept: searching on until the first ones
 * by path are known took twice as long (rows `grep-many`, `grep-everywhere`).
 */
export function createUnorderedLines(limit: number) {
  /** The lines of each file, in order. */
  const open = new Map<string, FoundLine[]>();
  let matchCount = 0;
  let characters = 0;
  let isFull = false;

  return {
    /** Whether there were more lines than fit. */
    get isFull(): boolean {
      return isFull;
    },
    /** Takes a line; returns false if it no longer fits. */
    add(line: FoundLine): boolean {
      if (line.isMatch) matchCount += 1;
      characters += line.path.length + line.text.length;
      isFull ||= matchCount > limit || characters > maxCharacters;
      // The first line is kept however long it is.
      if (isFull && open.size > 0) return false;
      const lines = open.get(line.path);
      if (lines) lines.push(line);
      else open.set(line.path, [line]);
      return !isFull;
    },
    /** The kept lines, ordered by path. */
    sorted(): FoundLine[] {
      const files = [...open].map(([path, lines]) => ({ key: orderKey(path), lines }));
      files.sort((left, right) => left.key.compare(right.key));
      return files.flatMap(({ lines }) => lines);
    },
  };
}

/** Orders by directory and by bytes, as ripgrep orders paths. */
function orderKey(path: string): Buffer {
  return Buffer.from(path.replaceAll("/", "\0"));
}

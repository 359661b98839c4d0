import type { FoundLine } from "../common/found-lines.ts";

const maxCharacters = 1024 * 1024;

/**
 * Lines of files that were searched at the same time, up to the matches that are wanted. Which ones these
 * are of more is the order in which they were found: a search that went on until the first by path are
 * known took twice as long (rows `grep-many`, `grep-everywhere`).
 */
export function createUnorderedLines(limit: number) {
  /** Each with the lines of one file, in order. */
  const open = new Map<string, FoundLine[]>();
  let matchCount = 0;
  let characters = 0;
  let isFull = false;

  return {
    /** Whether there was more than it holds. */
    get isFull(): boolean {
      return isFull;
    },
    /** Takes a line; false when it was one too many. */
    add(line: FoundLine): boolean {
      if (line.isMatch) matchCount += 1;
      characters += line.path.length + line.text.length;
      isFull ||= matchCount > limit || characters > maxCharacters;
      // The first line is shown however long it is.
      if (isFull && open.size > 0) return false;
      const lines = open.get(line.path);
      if (lines) lines.push(line);
      else open.set(line.path, [line]);
      return !isFull;
    },
    /** Those it holds, in the order of their paths. */
    sorted(): FoundLine[] {
      const files = [...open].map(([path, lines]) => ({ key: orderKey(path), lines }));
      files.sort((left, right) => left.key.compare(right.key));
      return files.flatMap(({ lines }) => lines);
    },
  };
}

/** Directory by directory and by bytes, as ripgrep orders paths. */
function orderKey(path: string): Buffer {
  return Buffer.from(path.replaceAll("/", "\0"));
}

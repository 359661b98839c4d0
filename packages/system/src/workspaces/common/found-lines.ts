import type { WorkspaceMatch, WorkspaceSearchResult } from "@tau-agent/rpc-protocol/workspace";
import { truncateLine } from "../../processes/truncate.ts";

/** A line that a search reports, in the order of files and lines. */
export interface FoundLine {
  /** Relative to the searched folder, with slashes. */
  readonly path: string;
  readonly number: number;
  readonly text: string;
  readonly isMatch: boolean;
  /** Whether it continues a match that spans several lines. */
  readonly isRest?: boolean;
}

/** A result must stay small enough to fit into a frame after escaping. */
const maxCharacters = 1024 * 1024;
const maxLineCharacters = 64 * 1024;

interface Found {
  readonly path: string;
  readonly line: number;
  readonly text: string;
  before: readonly string[];
  readonly after: string[];
  /** The last line of the match itself. */
  end: number;
  /** The last line with its context. */
  last: number;
}

/**
 * Makes the result of a search from its lines. A line in one match is not repeated in the next.
 *
 * @param pathOf converts the path of a line to the path of a result
 */
export function createFoundLines(limit: number, context: number, pathOf: (path: string) => string) {
  const found: Found[] = [];
  let linesBefore: FoundLine[] = [];
  let characters = 0;
  let isTruncated = false;

  function start(line: FoundLine): void {
    const before = linesBefore.filter(({ path }) => path === line.path).map(textOf);
    linesBefore = [];
    const { path, number } = line;
    found.push({
      ...{ path, line: number, text: textOf(line), before, after: [], end: number, last: number },
    });
  }

  function belongs(line: FoundLine, { path, end, last }: Found): boolean {
    if (line.path !== path || line.number !== last + 1) return false;
    return line.isRest === true || line.number <= end + context;
  }

  return {
    /** Takes a line; returns false when no more lines are needed. */
    add(line: FoundLine): boolean {
      const isFull = line.isMatch && found.length >= limit;
      characters += line.path.length + Math.min(line.text.length, maxLineCharacters);
      if (isFull || characters > maxCharacters) {
        isTruncated = true;
        return false;
      }
      const match = found.at(-1);
      if (line.isMatch) start(line);
      else if (match !== undefined && belongs(line, match)) {
        match.after.push(textOf(line));
        match.last = line.number;
        if (line.isRest) match.end = line.number;
      } else linesBefore.push(line);
      return true;
    },
    result(): WorkspaceSearchResult {
      const matches = found.map(
        ({ path, line, text, before, after }): WorkspaceMatch => ({
          ...{ path: pathOf(path), line, text },
          ...(before.length > 0 && { before }),
          ...(after.length > 0 && { after }),
        }),
      );
      return { matches, truncated: isTruncated };
    },
  };
}

function textOf({ text }: FoundLine): string {
  return truncateLine(text.replace(/\r$/, ""), maxLineCharacters);
}

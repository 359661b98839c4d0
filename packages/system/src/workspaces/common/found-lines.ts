import type { WorkspaceMatch, WorkspaceSearchResult } from "@tau-agent/rpc-protocol/workspace";
import { truncateLine } from "../../processes/truncate.ts";

/** A line that a search reports, in the order of files and lines. */
export interface FoundLine {
  /** With slashes, from the searched folder. */
  readonly path: string;
  readonly number: number;
  readonly text: string;
  readonly isMatch: boolean;
  /** Another line of the match before it. */
  readonly isRest?: boolean;
}

/** One answer of a workspace must stay small enough for a frame, escaped. */
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
  /** The last line that it has. */
  last: number;
}

/** Makes the result of a search from its lines. A line that one match has is not repeated by the next. */
/** @param pathOf the path of a result, by the one of its line */
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
    /** Takes a line; false when nothing more is wanted. */
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

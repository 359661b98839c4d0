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
export class FoundLines {
  readonly #limit: number;
  readonly #context: number;
  readonly #pathOf: (path: string) => string;
  readonly #found: Found[] = [];
  #before: FoundLine[] = [];
  #characters = 0;
  #isTruncated = false;

  /** @param pathOf the path of a result, by the one of its line */
  constructor(limit: number, context: number, pathOf: (path: string) => string) {
    this.#limit = limit;
    this.#context = context;
    this.#pathOf = pathOf;
  }

  /** Takes a line; false when nothing more is wanted. */
  add(line: FoundLine): boolean {
    const isFull = line.isMatch && this.#found.length >= this.#limit;
    this.#characters += line.path.length + Math.min(line.text.length, maxLineCharacters);
    if (isFull || this.#characters > maxCharacters) {
      this.#isTruncated = true;
      return false;
    }
    const match = this.#found.at(-1);
    if (line.isMatch) this.#start(line);
    else if (match !== undefined && this.#belongs(line, match)) {
      match.after.push(textOf(line));
      match.last = line.number;
      if (line.isRest) match.end = line.number;
    } else this.#before.push(line);
    return true;
  }

  result(): WorkspaceSearchResult {
    const matches = this.#found.map(
      ({ path, line, text, before, after }): WorkspaceMatch => ({
        ...{ path: this.#pathOf(path), line, text },
        ...(before.length > 0 && { before }),
        ...(after.length > 0 && { after }),
      }),
    );
    return { matches, truncated: this.#isTruncated };
  }

  #start(line: FoundLine): void {
    const before = this.#before.filter(({ path }) => path === line.path).map(textOf);
    this.#before = [];
    const { path, number } = line;
    this.#found.push({
      ...{ path, line: number, text: textOf(line), before, after: [], end: number, last: number },
    });
  }

  #belongs(line: FoundLine, { path, end, last }: Found): boolean {
    if (line.path !== path || line.number !== last + 1) return false;
    return line.isRest === true || line.number <= end + this.#context;
  }
}

function textOf({ text }: FoundLine): string {
  return truncateLine(text.replace(/\r$/, ""), maxLineCharacters);
}

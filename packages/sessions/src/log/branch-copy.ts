import type { SessionEntry } from "@tau-agent/rpc-protocol";
import { encodeLine } from "@tau-agent/rpc-protocol/plain";
import type { LineReader } from "./file/line-reader.ts";
import type { SessionTree } from "./session-tree.ts";

/** Small pieces are combined into writes of this size. */
const GATHERED_BYTES = 256 * 1024;
const lineFeed = Buffer.from("\n");

/** Scanned entries on consecutive lines, or a single parsed entry. */
type Part =
  | { readonly positions: number[]; readonly start: number; end: number }
  | { readonly position: number; readonly line: Buffer };

/** Copies the lines of a branch to another file, and its entries to another tree. */
export class BranchCopy {
  readonly #tree: SessionTree;
  readonly #lines: LineReader;
  readonly #parts: readonly Part[];

  /** @param positions - the positions of the branch in `tree`, starting at the root */
  constructor(tree: SessionTree, lines: LineReader, positions: readonly number[]) {
    this.#tree = tree;
    this.#lines = lines;
    this.#parts = partsOf(tree, positions);
  }

  /** The lines, in pieces of any size, each valid until the next piece is read. */
  *pieces(): Generator<Uint8Array> {
    for (const part of this.#parts) {
      if ("line" in part) yield part.line;
      else {
        yield* this.#lines.pieces({ start: part.start, length: part.end - part.start });
        yield lineFeed;
      }
    }
  }

  /** Adds the entries to the tree of the other file, where the lines begin at `start`. */
  adoptInto(tree: SessionTree, start: number): void {
    let at = start;
    for (const part of this.#parts) {
      if ("line" in part) {
        tree.adopt(this.#tree.at(part.position) as SessionEntry);
        at += part.line.length;
        continue;
      }
      for (const position of part.positions) {
        const { start: lineStart } = this.#tree.lineAt(position) ?? part;
        tree.adoptCopy(this.#tree, position, at + lineStart - part.start);
      }
      at += part.end - part.start + lineFeed.length;
    }
  }
}

function partsOf(tree: SessionTree, positions: readonly number[]): Part[] {
  const parts: Part[] = [];
  for (const position of positions) {
    const place = tree.lineAt(position);
    if (place === undefined) {
      parts.push({ position, line: Buffer.from(encodeLine(tree.at(position))) });
      continue;
    }
    const end = place.start + place.length;
    const last = parts.at(-1);
    if (last !== undefined && "end" in last && place.start === last.end + lineFeed.length) {
      last.positions.push(position);
      last.end = end;
    } else parts.push({ positions: [position], start: place.start, end });
  }
  return parts;
}

/** Joins small pieces; each result is valid until the next one is read. */
export function* gathered(...sources: readonly Iterable<Uint8Array>[]): Generator<Uint8Array> {
  let pieces: Uint8Array[] = [];
  let size = 0;
  for (const source of sources) {
    for (const piece of source) {
      if (size > 0 && size + piece.length > GATHERED_BYTES) {
        yield Buffer.concat(pieces);
        pieces = [];
        size = 0;
      }
      if (piece.length >= GATHERED_BYTES) yield piece;
      else {
        pieces.push(Buffer.from(piece));
        size += piece.length;
      }
    }
  }
  if (size > 0) yield Buffer.concat(pieces);
}

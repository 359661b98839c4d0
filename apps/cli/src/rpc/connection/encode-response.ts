import {
  type DialectFrame,
  encodeLine,
  escapeLineSeparators,
  type SessionTreeNode,
} from "@tau-agent/rpc-protocol";
import type { EncodedLine } from "./line-writer.ts";

/** A list that holds its own JSON. */
interface StoredList {
  /** Pieces of UTF-8. */
  readonly json: readonly Uint8Array[];
}

interface TreeData {
  readonly tree: readonly SessionTreeNode[];
}

/**
 * Encodes a response as a line. Messages that are still in their file are copied from it. The tree of a
 * session is as deep as the conversation is long, and `JSON.stringify` overflows the stack between 2000 and
 * 4000 levels, so the tree is encoded without recursion.
 */
export function encodeResponse(frame: DialectFrame): EncodedLine {
  if (!("data" in frame)) return encodeLine(frame);
  const { data } = frame;
  if (isStored(data)) {
    const messages = data.messages.json.map(escapedPiece);
    return [`${openWithoutData(frame)},"data":{"messages":`, ...messages, "}}\n"];
  }
  if (!isTreeData(data)) return encodeLine(frame);
  const { tree, ...rest } = data;
  const more = encodeLine(rest).slice(1, -1);
  const shown = `{"tree":${encodeTree(tree)}${more === "}" ? "" : ","}${more}`;
  return `${openWithoutData(frame)},"data":${shown}}\n`;
}

function isStored(data: unknown): data is { readonly messages: StoredList } {
  if (typeof data !== "object" || data === null || !("messages" in data)) return false;
  const { messages } = data;
  return typeof messages === "object" && messages !== null && "json" in messages;
}

/** How both separators begin, and quotation marks and dashes, too: most pieces are searched only once. */
const punctuation = Buffer.from([0xe2, 0x80]);

/** Bytes unchanged, or a text with U+2028 and U+2029 escaped. */
function escapedPiece(piece: Uint8Array): string | Uint8Array {
  const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
  const hasSeparator =
    bytes.includes(punctuation) && (bytes.includes("\u2028") || bytes.includes("\u2029"));
  return hasSeparator ? escapeLineSeparators(bytes.toString()) : bytes;
}

function isTreeData(data: unknown): data is TreeData {
  return typeof data === "object" && data !== null && "tree" in data && Array.isArray(data.tree);
}

function openWithoutData(frame: DialectFrame & { data?: unknown }): string {
  const { data: _, ...head } = frame;
  return open(head);
}

/** The JSON of an object without its closing brace. */
function open(value: object): string {
  return encodeLine(value).slice(0, -"}\n".length);
}

/** The JSON of the nodes, produced without recursion. */
function encodeTree(roots: readonly SessionTreeNode[]): string {
  const pieces: string[] = ["["];
  const levels = [{ nodes: roots, next: 0, end: "]" }];
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const node = level.nodes[level.next];
    if (node === undefined) {
      pieces.push(level.end);
      levels.pop();
      continue;
    }
    const { entry, children, ...rest } = node;
    if (level.next > 0) pieces.push(",");
    level.next += 1;
    pieces.push(open({ entry }), ',"children":[');
    const more = encodeLine(rest).slice(1, -1);
    levels.push({ nodes: children, next: 0, end: more === "}" ? "]}" : `],${more}` });
  }
  return pieces.join("");
}

import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { pipeline, Readable } from "node:stream";
import { createGzip } from "node:zlib";
import type { SessionEntry, SessionHeader } from "@tau-agent/rpc-protocol";
import { encodeLine, SessionError } from "@tau-agent/rpc-protocol/plain";
import type { PageImages } from "./entries/page-images.ts";
import { hasConversation } from "./entries/session-outline.ts";

export interface SessionLines {
  /** The session's file; if there is none, or it is gone, the entries are written in its format. */
  readonly path?: string | undefined;
  readonly header: SessionHeader;
  readonly entries: readonly SessionEntry[];
}

/** Precedes the number of an image; doubled, it is the byte itself. JSON never contains it. */
const MARK = "\u0001";
/** Base64 of complete groups of three bytes can be concatenated. */
const GROUP = 3;
/** Short lines are combined before compression. */
const pieceLength = 64 * 1024;
/** Text that may be an image; the lookbehind keeps the search from starting again inside. */
const base64 = /(?<![A-Za-z\d+/=])[A-Za-z\d+/=]{1000,}/g;

/**
 * The session's JSONL for the page: gzip in Base64. Images that the page shows are only referred to;
 * `download` in the page's script restores them.
 */
export async function* packSession(
  session: SessionLines,
  images: PageImages,
): AsyncGenerator<string> {
  const gzip = createGzip();
  // An error also ends the iteration below.
  pipeline(Readable.from(referring(linesOf(session), images)), gzip, () => {});
  let rest = Buffer.alloc(0);
  for await (const chunk of gzip as AsyncIterable<Buffer>) {
    const bytes = Buffer.concat([rest, chunk]);
    const whole = bytes.length - (bytes.length % GROUP);
    rest = bytes.subarray(whole);
    yield bytes.toString("base64", 0, whole);
  }
  yield rest.toString("base64");
}

/**
 * The session as JSONL.
 *
 * @throws {SessionError} `nothing_to_export` if the session contains no conversation.
 */
export async function* sessionBytes(session: SessionLines): AsyncGenerator<Uint8Array> {
  if (!hasConversation(session.entries)) throw new SessionError("nothing_to_export");
  for await (const lines of linesOf(session)) yield Buffer.from(lines, "latin1");
}

/** The lines, one character per byte, so that damaged lines of the file stay unchanged. */
async function* linesOf({ path, header, entries }: SessionLines): AsyncGenerator<string> {
  const size = path === undefined ? 0 : await sizeOf(path);
  if (path !== undefined && size > 0) {
    yield* fileLines(path, size);
    return;
  }
  let lines = "";
  for (const value of [header, ...entries]) {
    lines += encodeLine(value);
    if (lines.length < pieceLength) continue;
    yield Buffer.from(lines, "utf8").toString("latin1");
    lines = "";
  }
  yield Buffer.from(lines, "utf8").toString("latin1");
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}

/** Complete lines only, since an image must not be cut; a host may append to the file meanwhile. */
async function* fileLines(path: string, size: number): AsyncGenerator<string> {
  let line: string[] = [];
  for await (const chunk of createReadStream(path, { encoding: "latin1", end: size - 1 })) {
    const text = String(chunk);
    const end = text.lastIndexOf("\n") + 1;
    line.push(text.slice(0, end === 0 ? undefined : end));
    if (end === 0) continue;
    yield line.join("");
    line = [text.slice(end)];
  }
  yield line.join("");
}

async function* referring(
  lines: AsyncIterable<string>,
  images: PageImages,
): AsyncGenerator<Buffer> {
  for await (const line of lines) {
    const marked = line.replaceAll(MARK, MARK + MARK).replace(base64, (found) => {
      const number = images.numberOf(found);
      return number === undefined ? found : MARK + number + MARK;
    });
    if (marked !== "") yield Buffer.from(marked, "latin1");
  }
}

import type { FileHandle } from "node:fs/promises";
import type { SessionHeader } from "@tau-agent/rpc-protocol";
import {
  encodeLine,
  type JsonObject,
  LineDecoder,
  parseObject,
  SESSION_VERSION,
  SessionError,
} from "@tau-agent/rpc-protocol/plain";
import { openRegularFile, randomUuid, systemReason } from "@tau-agent/system";
import { ClaudeCodeReader } from "./claude-code.ts";
import { CodexReader } from "./codex.ts";
import { type ImportReport, SessionDraft } from "./session-draft.ts";
import type { TranscriptReader } from "./transcript-reader.ts";

/** The agents whose transcripts can be imported. */
const transcriptAgents = {
  "claude-code": { title: "Claude Code", Reader: ClaudeCodeReader },
  codex: { title: "Codex", Reader: CodexReader },
} as const;
type TranscriptAgent = keyof typeof transcriptAgents;

export interface ImportRequest {
  readonly path: string;
  /** By default, the format is detected from the first lines. */
  readonly from?: TranscriptAgent | undefined;
  /** The project folder of the session. */
  readonly cwd: string;
}

export interface ImportedSession {
  readonly header: SessionHeader;
  /** The lines of the session file, which are made as they are read. */
  readonly pieces: AsyncIterable<string>;
  /** Complete once all pieces have been read. */
  readonly report: ImportReport & { readonly agent: TranscriptAgent };
}

const CHUNK_BYTES = 1024 * 1024;
/** The limit for lines of session files, which hosts write. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;
/** How many of the first lines may be needed to detect the agent. */
const LINES_TO_LOOK_AT = 200;

/**
 * Starts reading a transcript. The file is closed once all pieces have been read, or reading them has failed.
 *
 * @throws {SessionError} `transcript_invalid`, also while pieces are being read
 */
export async function importTranscript(request: ImportRequest): Promise<ImportedSession> {
  const { path, cwd } = request;
  const refuse = (reason: string): never => {
    throw new SessionError("transcript_invalid", { path, reason });
  };
  const file =
    (await openRegularFile(path).catch((error) => refuse(systemReason(error)))) ??
    refuse("it is not a regular file");
  try {
    const { mtimeMs } = await file.stat();
    const first: JsonObject[] = [];
    const damaged = { count: 0 };
    const lines = linesOf(file, damaged);
    const agent = request.from ?? (await detect(lines, first)) ?? refuse(unknown(first));
    const draft = new SessionDraft(Math.round(mtimeMs));
    const reader = new transcriptAgents[agent].Reader(draft);
    const timestamp = new Date().toISOString();
    const header = { type: "session" as const, version: SESSION_VERSION, id: randomUuid() };
    const report = Object.assign(draft.report, { agent });
    const read = { file, draft, reader, first, lines, damaged, refuse };
    return {
      header: { ...header, timestamp, cwd },
      pieces: piecesOf({ ...header, timestamp, cwd }, read, report),
      report,
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

interface Reading {
  readonly file: FileHandle;
  readonly draft: SessionDraft;
  readonly reader: TranscriptReader;
  readonly first: readonly JsonObject[];
  readonly lines: AsyncGenerator<JsonObject>;
  readonly damaged: { readonly count: number };
  readonly refuse: (reason: string) => never;
}

async function* piecesOf(
  header: SessionHeader,
  { file, draft, reader, first, lines, damaged, refuse }: Reading,
  report: ImportedSession["report"],
): AsyncGenerator<string> {
  try {
    yield encodeLine(header);
    for (const line of first) reader.take(line);
    yield encoded(draft);
    for await (const line of lines) {
      reader.take(line);
      const piece = encoded(draft);
      if (piece !== "") yield piece;
    }
    draft.finish();
    if (damaged.count > 0) draft.leaveOut("damaged or too long lines", damaged.count);
    if (report.messages === 0) refuse("it has no messages");
    draft.custom("imported", { from: report.agent, ...report.origin }, {});
    yield encoded(draft);
  } finally {
    await file.close();
  }
}

function encoded(draft: SessionDraft): string {
  return draft
    .take()
    .map((entry) => encodeLine(entry))
    .join("");
}

/** The objects of a file that has one per line. Other lines are counted as damaged. */
async function* linesOf(file: FileHandle, damaged: { count: number }): AsyncGenerator<JsonObject> {
  const decoder = new LineDecoder(MAX_LINE_BYTES);
  for (let isAtEnd = false; !isAtEnd; ) {
    const { bytesRead, buffer } = await file.read({ buffer: Buffer.allocUnsafe(CHUNK_BYTES) });
    isAtEnd = bytesRead === 0;
    for (const line of isAtEnd ? decoder.end() : decoder.push(buffer.subarray(0, bytesRead))) {
      const value = "text" in line ? shallowObject(line.text) : undefined;
      if (value !== undefined) yield value;
      else damaged.count += 1;
    }
  }
}

/** No agent nests this deep, and deeper values could not be written again. */
const MAX_DEPTH = 200;

function shallowObject(text: string): JsonObject | undefined {
  const value = parseObject(text);
  return value !== undefined && isShallow(value, MAX_DEPTH) ? value : undefined;
}

function isShallow(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return depth > 0 && Object.values(value).every((member) => isShallow(member, depth - 1));
}

/** Reads lines into `first` until one identifies the agent. */
async function detect(
  lines: AsyncGenerator<JsonObject>,
  first: JsonObject[],
): Promise<TranscriptAgent | undefined> {
  while (first.length < LINES_TO_LOOK_AT) {
    const { value, done } = await lines.next();
    if (done) return undefined;
    first.push(value);
    for (const [agent, { Reader }] of Object.entries(transcriptAgents)) {
      if (Reader.fits(value)) return agent as TranscriptAgent;
    }
  }
  return undefined;
}

function unknown(first: readonly JsonObject[]): string {
  if (first.length === 0) return "it has no line with a JSON object";
  return `no line looks like one of ${Object.keys(transcriptAgents).join(" or ")}; --from says which agent wrote it`;
}

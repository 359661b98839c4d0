import { type FileHandle, open } from "node:fs/promises";
import type { SessionHeader } from "@tau-agent/rpc-protocol";
import { LineDecoder } from "@tau-agent/rpc-protocol/plain";
import type { Diagnostic } from "@tau-agent/system";
import { readFailed } from "./read-failed.ts";
import { MAX_LINE_BYTES, type RawEntry, RecordReader } from "./record-reader.ts";

const CHUNK_BYTES = 1024 * 1024;

/** How a file ends: what to repair before the first append. */
export interface FileTail {
  readonly sizeBytes: number;
  /** Where an unterminated last line begins; undefined if the file ends in a line feed. */
  readonly unterminatedFrom: number | undefined;
  /** Whether the last line is a complete record that only lacks its line feed. */
  readonly isTailComplete: boolean;
}

export interface SessionFileContent {
  /** Undefined if the file is empty. */
  readonly header: SessionHeader | undefined;
  readonly entries: RawEntry[];
  readonly diagnostics: Diagnostic[];
  readonly tail: FileTail;
}

/**
 * Reads a session file line by line. Malformed lines are skipped and reported with their line number; they stay in the
 * file.
 *
 * @throws {SessionError} `session_unreadable`; `session_invalid` if it is not empty and does not begin with a header.
 */
export async function readSessionFile(path: string): Promise<SessionFileContent> {
  const reader = createWholeReader(path);
  try {
    const file = await open(path, "r");
    try {
      await readChunks(file, (chunk) => reader.push(chunk));
    } finally {
      await file.close();
    }
  } catch (error) {
    throw readFailed(path, error);
  }
  return reader.finish();
}

async function readChunks(file: FileHandle, push: (chunk: Buffer) => void): Promise<void> {
  for (;;) {
    // A fresh buffer each time: the decoder keeps views into it while a line is incomplete.
    const { bytesRead, buffer } = await file.read({ buffer: Buffer.allocUnsafe(CHUNK_BYTES) });
    if (bytesRead === 0) return;
    push(buffer.subarray(0, bytesRead));
  }
}

function createWholeReader(path: string) {
  const decoder = new LineDecoder(MAX_LINE_BYTES, { keepBlankLines: true });
  const entries: RawEntry[] = [];
  let sizeBytes = 0;
  let lineStart = 0;
  let lastByte: number | undefined;
  const records = new RecordReader(path, (entry) => entries.push(entry));

  return {
    push(chunk: Buffer): void {
      const lastFeed = chunk.lastIndexOf(0x0a);
      if (lastFeed !== -1) lineStart = sizeBytes + lastFeed + 1;
      sizeBytes += chunk.length;
      lastByte = chunk.at(-1);
      for (const line of decoder.push(chunk)) {
        records.take("text" in line ? line.text : undefined);
      }
    },
    finish(): SessionFileContent {
      const isUnterminated = lastByte !== undefined && lastByte !== 0x0a;
      let isTailComplete = true;
      for (const line of decoder.end()) {
        isTailComplete = records.takeLast("text" in line ? line.text : undefined);
      }
      records.finish(sizeBytes);
      return {
        header: records.header,
        entries,
        diagnostics: records.diagnostics,
        tail: {
          sizeBytes,
          unterminatedFrom: isUnterminated ? lineStart : undefined,
          isTailComplete,
        },
      };
    },
  };
}

import type { JsonObject } from "@tau-agent/rpc-protocol/plain";

/** Reads the lines of one agent's transcripts into a draft. */
export interface TranscriptReader {
  take(line: JsonObject): void;
}

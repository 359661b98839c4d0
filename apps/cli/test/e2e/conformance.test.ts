import { describe, it } from "vitest";
import { spawnedHost } from "../support/hosts.ts";
import { runTranscript } from "../support/run-transcript.ts";
import { readTranscripts } from "../support/transcript.ts";

describe.concurrent("transcripts against the built host", () => {
  it.each(readTranscripts())("$name", async (transcript) => {
    await using host = await spawnedHost(transcript);
    await runTranscript(transcript, host);
  });
});

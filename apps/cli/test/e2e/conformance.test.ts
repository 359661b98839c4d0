import { describe, expect, it } from "vitest";
import { playTranscript } from "../../src/conformance/play-transcript.ts";
import { spawnHost } from "../../src/conformance/spawned-host.ts";
import { readTranscripts } from "../../src/conformance/transcript.ts";
import { SchemaCheck } from "../support/schema-check.ts";
import { binPath } from "../support/start-host.ts";

const argv = [process.execPath, binPath];

describe.concurrent("transcripts against the built host, with a model behind a vendor's wire", () => {
  it.each(readTranscripts())("$name", async (transcript) => {
    await using host = await spawnHost(transcript, {
      argv,
      api: "anthropic-messages",
      timeoutMs: 8_000,
      violationIn: (place) => {
        const check = new SchemaCheck(place);
        return (frame) => check.violation(frame);
      },
    });
    await playTranscript(transcript, host);
    expect(host.process.noise).toEqual([]);
  });
});

import { describe, expect, it } from "vitest";
import { requirements } from "./requirements.ts";
import { memoryHost } from "./support/hosts.ts";
import { runTranscript } from "./support/run-transcript.ts";
import { mismatch, readTranscripts } from "./support/transcript.ts";

const transcripts = readTranscripts();

describe("transcripts against a host in memory", () => {
  it.each(transcripts)("$name", async (transcript) => {
    await using host = await memoryHost(transcript);
    await runTranscript(transcript, host);
  });
});

describe("requirements", () => {
  const shown = new Set(transcripts.flatMap(({ requirements: ids }) => ids));

  it("are each shown by a transcript", () => {
    expect(Object.keys(requirements).filter((id) => !shown.has(id))).toEqual([]);
  });

  it("are what transcripts name", () => {
    expect([...shown].filter((id) => !Object.hasOwn(requirements, id))).toEqual([]);
  });
});

describe("the matcher", () => {
  it("refuses a missing, a further and a different member", () => {
    const pattern = { type: "x", n: "$number", "o?": "$string" };
    expect(mismatch(pattern, { type: "x", n: 1 })).toBeUndefined();
    expect(mismatch(pattern, { type: "x" })).toContain("n is missing");
    expect(mismatch(pattern, { type: "x", n: 1, more: 2 })).toContain("more is not expected");
    expect(mismatch(pattern, { type: "x", n: "1" })).toContain("is not $number");
    expect(mismatch(pattern, { type: "x", n: 1, o: 1 })).toContain("is not $string");
    expect(mismatch({ "...": true, type: "x" }, { type: "x", more: 2 })).toBeUndefined();
    expect(mismatch([1, "$any"], [1])).toContain("has not 2 items");
  });
});

import { readFileSync } from "node:fs";
import {
  documentedProblem,
  mismatch,
  playTranscript,
  readTranscripts,
  requirements,
} from "@tau-agent/conformance";
import { describe, expect, it } from "vitest";
import { describeWith } from "../../../scripts/testing/describe-with.ts";
import { partOnly, slice } from "../../../scripts/testing/slice.ts";
import { shownElsewhere } from "./shown-elsewhere.ts";
import { commandExamples, frameExamples } from "./support/documented-examples.ts";
import { memoryHost, needsProcess } from "./support/hosts.ts";

const transcripts = readTranscripts();
// e2e/conformance.test.ts covers the transcripts that need a process: those with subagents, whose hosts are
// built processes, and those with many sessions.
const inMemory = transcripts.filter((transcript) => !needsProcess(transcript));
const seen: Record<string, unknown>[] = [];

describe("transcripts against an in-memory host", () => {
  it.each(slice(inMemory, 40))("$name", async (transcript) => {
    await using host = await memoryHost(transcript);
    seen.push(...(await playTranscript(transcript, host)));
  });

  it("send every command that the document shows", () => {
    const sent = transcripts
      .flatMap(({ steps }) => steps)
      .flatMap((step) => (step.kind === "send" ? parsed(step.line) : []));
    const missing = commandExamples.filter((example) =>
      sent.every((command) => mismatch(example, command) !== undefined),
    );
    expect(missing).toEqual([]);
  });
});

describeWith(partOnly)("all transcripts together", () => {
  it("contain every frame that the document shows", () => {
    const missing = frameExamples.filter((example) =>
      seen.every((frame) => mismatch(example, frame) !== undefined),
    );
    expect(missing).toEqual([]);
  });
});

/** A line as parsed JSON in a list; an empty list if the line is malformed. */
function parsed(line: string): unknown[] {
  try {
    return [JSON.parse(line)];
  } catch {
    return [];
  }
}

describe("requirements", () => {
  const shown = new Set(transcripts.flatMap(({ requirements: ids }) => ids));

  it("are each covered by a transcript or by the named test", () => {
    const named = (id: string): boolean => {
      const path = shownElsewhere[id];
      if (path === undefined) return false;
      return readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8").includes(`[${id}]`);
    };
    expect(Object.keys(requirements).filter((id) => !shown.has(id) && !named(id))).toEqual([]);
  });

  it("contain every id that transcripts name", () => {
    expect([...shown].filter((id) => !Object.hasOwn(requirements, id))).toEqual([]);
  });
});

describe("the matcher", () => {
  it("rejects a missing, an additional and a different member", () => {
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

describe("the documented shapes", () => {
  const problem = (frame: Record<string, unknown>, isInitialized = false) =>
    documentedProblem(frame, { isInitialized });
  const failure = { type: "response", command: "fork", success: false, error: "no" };
  const started = { type: "response", command: "prompt", success: true };

  it("reject an unknown key, a missing member and a wrong type", () => {
    expect(problem({ type: "agent_start", id: "1" })).toContain("id is not expected");
    expect(problem({ type: "agent_end" })).toContain("messages is missing");
    expect(problem({ type: "auto_compaction_start", reason: "manual" })).toContain("reason");
    expect(problem({ ...started, data: {} })).toContain("data is not expected");
    expect(problem({ type: "extension_ui_request", id: "1", method: "sing" })).toContain("sing");
  });

  it("allow additional members only after initialize", () => {
    const ended = { type: "agent_end", messages: [], willRetry: false };
    expect(problem({ ...failure, code: "internal" })).toContain("code is not expected");
    expect(problem(ended)).toContain("willRetry is not expected");
    expect(problem({ ...started, data: { disposition: "started" } })).toContain("data");
    expect(problem({ ...failure, code: "internal" }, true)).toBeUndefined();
    expect(problem(ended, true)).toBeUndefined();
    expect(problem({ ...started, data: { disposition: "started" } }, true)).toBeUndefined();
  });
});

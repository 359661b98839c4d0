import { FrameQueue, readTranscripts } from "@tau-agent/conformance";
import { decodeClientFrame, protocolNames } from "@tau-agent/rpc-protocol";
import { describe, expect, it } from "vitest";
import { exampleFrames as frames } from "./support/example-frames.ts";
import { schemaViolation } from "./support/published-schema.ts";
import { SchemaCheck } from "./support/schema-check.ts";

/** All variants of `value` in which one member is removed or has another type. */
function* mutations(value: unknown): Generator<unknown> {
  if (typeof value !== "object" || value === null) {
    yield { mutated: true };
    return;
  }
  for (const [key, member] of Object.entries(value)) {
    const copy = (): Record<string, unknown> & unknown[] => structuredClone(value) as never;
    for (const changed of mutations(member)) yield Object.assign(copy(), { [key]: changed });
    if (Array.isArray(value) || key === "id") continue;
    const rest = copy();
    delete rest[key];
    yield rest;
  }
}

describe("the published schema", () => {
  it.each(Object.entries(frames))(
    "allows a documented %s and rejects each mutation of it",
    (_, frame) => {
      expect(schemaViolation("PiHostFrame", frame)).toBeUndefined();
      const changed = [...mutations(frame), { ...frame, more: 1 }, { ...frame, type: "other" }];
      expect(changed.length).toBeGreaterThan(5);
      for (const mutated of changed) {
        expect(schemaViolation("PiHostFrame", mutated), JSON.stringify(mutated)).toBeDefined();
      }
    },
  );

  it("is checked against every frame that a test receives", async () => {
    const check = new SchemaCheck({ arguments: ["--mode", "rpc"], variables: {} });
    const queue = new FrameQueue((frame) => check.violation(frame));
    queue.push(frames.retry);
    expect(await queue.next()).toEqual(frames.retry);
    queue.push({ ...frames.retry, attempt: "2" });
    await expect(queue.next()).rejects.toThrow("not a PiHostFrame");
  });

  it("covers every dialect", () => {
    const failure = { type: "response", command: "bash", success: false, error: "x" };
    const dialects = ["Pi", "Pi1", "Pisces", "OhMyPi", "OhMyPi18", "CoMono", "PiRust"];
    for (const dialect of dialects) {
      expect(schemaViolation(`${dialect}HostFrame`, failure)).toBeUndefined();
    }
    expect(protocolNames).toHaveLength(dialects.length);
  });

  it("allows what a host accepts", () => {
    const lines = readTranscripts().flatMap(({ steps }) =>
      steps.flatMap((step) => (step.kind === "send" ? [step.line] : [])),
    );
    const taken = lines.filter((line) => decodeClientFrame(line).kind !== "error");
    expect(taken.length).toBeGreaterThan(50);
    for (const line of taken)
      expect(schemaViolation("ClientFrame", JSON.parse(line))).toBeUndefined();
  });

  it("rejects what a host refuses", () => {
    for (const frame of [{ type: "prompt" }, { type: "nonsense" }, { type: "set_model" }]) {
      expect(schemaViolation("ClientFrame", frame)).toBeDefined();
    }
  });

  it("describes entries of sessions", () => {
    const node = { id: "a", parentId: null, timestamp: "2026-01-01T00:00:00.000Z" };
    const message = { role: "user", content: "hi", timestamp: 1 };
    expect(schemaViolation("SessionEntry", { type: "message", ...node, message })).toBeUndefined();
    expect(schemaViolation("KnownSessionEntry", { type: "message", ...node })).toBeDefined();
    expect(schemaViolation("SessionEntry", { type: "message" })).toBeDefined();
  });
});

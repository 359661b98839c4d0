import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";

const schema = JSON.parse(
  readFileSync(new URL(import.meta.resolve("@tau-agent/rpc-protocol/schema.json")), "utf8"),
) as { readonly $defs: Record<string, unknown> };

const words: string[] = [];
const say = (...parts: unknown[]) => words.push(parts.join(" "));
const ajv = new Ajv2020({ strict: true, logger: { log: say, warn: say, error: say } });
ajv.addSchema(schema, "tau");

function isValid(name: string, value: unknown): boolean {
  const validate = ajv.getSchema(`tau#/$defs/${name}`);
  if (validate === undefined) throw new Error(`There is no ${name}`);
  return validate(value) as boolean;
}

const usage = {
  ...{ input: 1, output: 1, cacheRead: 0, cacheWrite: 0 },
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};
const reply = {
  ...{ role: "assistant", content: [], api: "x", provider: "y", model: "z" },
  ...{ usage, stopReason: "stop", timestamp: 1 },
};

/** The state as shown in each document. */
const state = {
  ...{ model: null, thinkingLevel: "medium", isStreaming: false, isCompacting: false },
  ...{ sessionFile: "/path/to/session.jsonl", sessionId: "abc123" },
  ...{ autoCompactionEnabled: true, messageCount: 5 },
};
const modes = { steeringMode: "all", followUpMode: "one-at-a-time" };
const states = {
  Pi: { ...state, ...modes, sessionName: "my-feature-work", pendingMessageCount: 0 },
  Pisces: { ...state, ...modes, interruptMode: "wait", sessionName: "x", queuedMessageCount: 0 },
  OhMyPi: { ...state, queueMode: "all", queuedMessageCount: 0 },
};

describe("the published schema in a strict validator", () => {
  it("compiles without a warning, including each definition on its own", () => {
    for (const name of Object.keys(schema.$defs))
      expect(isValid(name, { no: "frame" })).toBe(false);
    expect(words).toEqual([]);
  });

  it.each(Object.entries(states))(
    "allows the state that the document of %s shows",
    (name, data) => {
      const frame = { type: "response", command: "get_state", success: true, data };
      expect(isValid(`${name}HostFrame`, frame)).toBe(true);
      for (const member of Object.keys(data)) {
        if (member === "sessionFile" || member === "sessionName") continue;
        const { [member]: _, ...less } = data as Record<string, unknown>;
        expect(isValid(`${name}HostFrame`, { ...frame, data: less }), member).toBe(false);
      }
    },
  );

  it.each(["Pi", "Pisces", "OhMyPi", "CoMono"])(
    "allows the start of a tool call as in %s",
    (name) => {
      const assistantMessageEvent = { type: "toolcall_start", contentIndex: 1, partial: reply };
      const frame = { type: "message_update", message: reply, assistantMessageEvent };
      expect(isValid(`${name}HostFrame`, frame)).toBe(true);
      const { contentIndex: _, ...nowhere } = assistantMessageEvent;
      expect(isValid(`${name}HostFrame`, { ...frame, assistantMessageEvent: nowhere })).toBe(false);
    },
  );

  it("accepts an entry of an unknown type, but requires the members of known types", () => {
    const node = { id: "a", parentId: null, timestamp: "2026-01-01T00:00:00.000Z" };
    expect(isValid("SessionEntry", { type: "from_the_future", ...node })).toBe(true);
    expect(isValid("SessionEntry", { type: "message", ...node })).toBe(false);
    expect(isValid("SessionEntry", { type: "label", ...node, targetId: 7 })).toBe(false);
    expect(isValid("SessionEntry", { type: "label", ...node, targetId: "b" })).toBe(true);
  });

  it("accepts strings and numbers as ids, in commands and responses", () => {
    for (const id of ["a", 1]) {
      expect(isValid("ClientFrame", { id, type: "abort" })).toBe(true);
      const frame = { id, type: "response", command: "abort", success: true };
      expect(isValid("PiHostFrame", frame)).toBe(true);
    }
    expect(isValid("ClientFrame", { id: true, type: "abort" })).toBe(false);
  });
});

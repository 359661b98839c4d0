import fc from "fast-check";
import { expect, it } from "vitest";
import { fenced } from "./content.ts";
import { describeCall } from "./describe-call.ts";
import { ToolCalls } from "./tool-calls.ts";

const done = { content: [{ type: "text" as const, text: "ok" }], details: {} };
const call = (id: string, name = "bash") => ({ id, name, args: { command: "x" } });

it("announces, runs and ends each call once", () => {
  const calls = new ToolCalls(() => "/w");
  const kinds = [
    ...calls.announce(call("1")),
    ...calls.begin(call("1"), undefined),
    ...calls.run("1"),
    ...calls.run("1"),
    ...calls.end("1", "bash", done),
    ...calls.end("1", "bash", done),
    ...calls.progress("1", "bash", done),
    ...calls.run("1"),
    ...calls.fail(),
  ].map((update) => [update.sessionUpdate, "status" in update ? update.status : undefined]);
  expect(kinds).toEqual([
    ["tool_call", "pending"],
    ["tool_call_update", undefined],
    ["tool_call_update", "in_progress"],
    ["tool_call_update", "completed"],
  ]);
});

it("gives an id that a vendor reuses a new id for the client", () => {
  const calls = new ToolCalls(() => "/w");
  calls.noteUsed("1");
  const ids = [1, 2].map(() => {
    calls.announce(call("1"));
    const id = calls.idOf("1");
    calls.end("1", "bash", done);
    return id;
  });
  expect(ids).toEqual(["1#2", "1#3"]);
});

it("keeps the diff of a successful call, and replaces that of a failed one with the error", () => {
  const calls = new ToolCalls(() => "/w");
  const change = { file: "/w/a", before: undefined, after: "new" };
  const diff = { type: "diff", path: "/w/a", oldText: null, newText: "new" };
  expect(calls.begin(call("1", "write"), change)).toMatchObject([{ content: [diff] }]);
  expect(calls.end("1", "write", done)).toMatchObject([{ status: "completed", content: [diff] }]);
  calls.begin(call("2", "write"), change);
  expect(calls.end("2", "write", { ...done, isError: true })).toMatchObject([
    { status: "failed", content: [{ type: "content", content: { text: "ok" } }] },
  ]);
});

it("fails the calls that have not begun, and then the rest", () => {
  const calls = new ToolCalls(() => "/w");
  calls.begin(call("1"), undefined);
  calls.announce(call("2"));
  expect(calls.fail({ begun: false })).toMatchObject([{ toolCallId: "2", status: "failed" }]);
  expect(calls.fail()).toMatchObject([{ toolCallId: "1", status: "failed" }]);
});

it("describes a call with any arguments", () => {
  const names = ["read", "edit", "write", "grep", "find", "ls", "bash", "todo_write", "task", "x"];
  fc.assert(
    fc.property(fc.constantFrom(...names), fc.jsonValue(), (name, args) => {
      const { title, locations } = describeCall(name, args, "/w");
      expect(title).not.toBe("");
      for (const { path, line } of locations) {
        expect(path.startsWith("/")).toBe(true);
        expect(line == null || (Number.isInteger(line) && line >= 1)).toBe(true);
      }
    }),
  );
  expect(describeCall("mcp__a__b", {}, "/w")).toEqual({
    title: "mcp__a__b",
    kind: "other",
    locations: [],
  });
});

it("fences a text so that nothing in it closes the block", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("`", "```", "a", "\n", "````")), (pieces) => {
      const lines = fenced(pieces.join("")).split("\n");
      const fence = lines[0] ?? "";
      expect(lines.at(-1)).toBe(fence);
      expect(lines.slice(1, -1).every((line) => !line.includes(fence))).toBe(true);
    }),
  );
});

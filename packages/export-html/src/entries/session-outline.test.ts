import type { SessionEntry } from "@tau-agent/rpc-protocol";
import fc from "fast-check";
import { expect, it } from "vitest";
import { call, SessionBuilder } from "../__fixtures__/session-builder.ts";
import { platformOf } from "./quiet-entries.ts";
import { hasConversation, outlineSession } from "./session-outline.ts";
import { buildTreeIndex } from "./tree-index.ts";

const entry = (id: string, parentId: string | null): SessionEntry => ({
  type: "custom",
  customType: "x",
  id,
  parentId,
  timestamp: "",
});

it("follows the leaf to the root", () => {
  const entries = [entry("a", null), entry("b", "a"), entry("c", "a"), entry("d", "c")];
  const outline = outlineSession(entries, "d");
  expect(outline.parents).toEqual([-1, 0, 0, 2]);
  expect(outline.path).toEqual([0, 2, 3]);
  expect(outlineSession(entries, null).path).toEqual([]);
});

it("replaces a missing parent with the preceding entry", () => {
  const entries = [entry("a", null), entry("b", "lost"), entry("c", "b")];
  expect(outlineSession(entries, "c").path).toEqual([0, 1, 2]);
});

it("names calls in the tree by their subjects, and marks failed results", () => {
  const session = new SessionBuilder();
  session.user("go");
  session.assistant([
    call("1", "bash", { command: "npm test" }),
    call("2", "read", { path: "a.ts", offset: 3 }),
    call("3", "mcp__x__y", { id: 7 }),
    call("4", "list_jobs", {}),
  ]);
  session.result("1", "bash", { text: "1 failed", isError: true });
  session.result("2", "read", { text: "text" });
  session.result("3", "mcp__x__y", { text: "" });
  session.result("4", "list_jobs", { text: "" });
  session.result("5", "grep", { text: "of no call" });
  session.assistant([call("6", "bash", { command: "sleep 9" })]);
  const { entries, leafId } = session.source();
  const { rows } = buildTreeIndex(outlineSession(entries, leafId));
  expect(rows.map(([, kind, words]) => `${kind} ${words}`)).toEqual([
    "user go",
    "calls bash: npm test, read: a.ts:3, mcp__x__y: id: 7, list_jobs",
    "failed bash: npm test",
    "result read: a.ts:3",
    "result mcp__x__y: id: 7",
    "result list_jobs",
    "result grep: of no call",
    "assistant bash: sleep 9",
  ]);
});

it("leaves out the host's own notes, and levels at which no thinking happened", () => {
  const session = new SessionBuilder();
  const level = (thinkingLevel: string) => session.add("thinking_level_change", { thinkingLevel });
  level("medium");
  session.add("custom", { customType: "environment", data: { date: "d", platform: "linux x64" } });
  session.user("one");
  for (const customType of ["request_setup", "loaded_tools", "cleared_results", "tau:usage"]) {
    session.add("custom", { customType, data: {} });
  }
  session.assistant("No thought.");
  level("high");
  session.user("two");
  session.assistant([{ type: "thinking", thinking: "Hm." }]);
  level("off");
  session.user("three");
  session.assistant("None again.");
  level("low");
  const { entries, leafId } = session.source();
  const { quiet } = outlineSession(entries, leafId);
  const shown = entries.filter((_, index) => !quiet.has(index));
  const levels = shown.map((entry) => (entry as { thinkingLevel?: string }).thinkingLevel);
  expect(levels.filter((found) => found !== undefined)).toEqual(["high", "off"]);
  expect(shown.some(({ type }) => type === "custom")).toBe(false);
  expect(platformOf(entries)).toBe("linux x64");
});

it("never runs into a cycle, whatever the ids", () => {
  const id = fc.constantFrom("a", "b", "c", "d");
  const nodes = fc.array(fc.tuple(id, fc.option(id)), { maxLength: 20 });
  fc.assert(
    fc.property(nodes, fc.option(id), (pairs, leaf) => {
      const { parents } = outlineSession(
        pairs.map(([own, parent]) => entry(own, parent)),
        leaf,
      );
      for (const [index, parent] of parents.entries()) expect(parent).toBeLessThan(index);
    }),
  );
});

it("shows a result within its reply, even if branches use the same call id", () => {
  const session = new SessionBuilder();
  const root = session.user("go");
  session.assistant([call("0", "bash", { command: "a" })]);
  session.result("0", "bash", { text: "first" });
  session.leafId = root;
  session.assistant([call("0", "bash", { command: "b" })]);
  session.result("0", "bash", { text: "second" });
  session.result("unheard", "bash", { text: "third" });
  const { nested, resultsOf } = outlineSession(session.entries, session.leafId);
  expect([...nested]).toEqual([
    [2, 1],
    [4, 3],
  ]);
  expect(resultsOf.get(1)?.get("0")).toEqual([2]);
  expect(resultsOf.get(3)?.get("0")).toEqual([4]);
});

it("takes the last label of an entry, and none if it was cleared", () => {
  const session = new SessionBuilder();
  const first = session.user("one");
  const second = session.user("two");
  session.add("label", { targetId: first, label: "x" });
  session.add("label", { targetId: first, label: "y" });
  session.add("label", { targetId: second, label: "z" });
  session.add("label", { targetId: second });
  const outline = outlineSession(session.entries, session.leafId);
  expect([...outline.labels]).toEqual([[first, "y"]]);
  expect(buildTreeIndex(outline).rows[0]).toEqual([-1, "user", "one", "y"]);
});

it("distinguishes a conversation from mere settings", () => {
  const session = new SessionBuilder();
  session.add("model_change", { provider: "a", modelId: "b" });
  expect(hasConversation(session.entries)).toBe(false);
  session.add("something_new");
  expect(hasConversation(session.entries)).toBe(true);
});

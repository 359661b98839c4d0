import { expect, it } from "vitest";
import { call, SessionBuilder } from "../__fixtures__/session-builder.ts";
import { readTimes } from "./entry-times.ts";
import { outlineSession } from "./session-outline.ts";

const timesOf = ({ entries, leafId }: SessionBuilder) => readTimes(outlineSession(entries, leafId));

it("measures a reply from the prompt or the results before it", () => {
  const session = new SessionBuilder();
  session.user("go");
  session.add("label", { targetId: "id0", label: "x" });
  session.after(12);
  session.assistant([call("1", "bash", {})]);
  session.after(3);
  session.result("1", "bash", {});
  session.after(2);
  session.assistant("done");
  const times = timesOf(session);
  expect(times.replyMs(2)).toBe(19_000);
  expect(times.resultMs(3)).toBe(3000);
  expect(times.replyMs(4)).toBe(2000);
});

it("measures a tool that ran in parallel by its own time, without the wait for an approval", () => {
  const session = new SessionBuilder();
  const start = session.now;
  session.assistant([call("1", "read", {}), call("2", "bash", {})]);
  session.after(60);
  session.add("approval", { phase: "answered", toolCallId: "2", decision: "allow", by: "client" });
  session.after(5);
  session.result("1", "read", { timestamp: start + 40 });
  session.result("2", "bash", {});
  const times = timesOf(session);
  expect(times.resultMs(2)).toBe(40);
  expect(times.resultMs(3)).toBe(12_000);
});

it("returns no time if there is none, or if clocks ran backwards", () => {
  const session = new SessionBuilder();
  session.user("go");
  session.after(-50);
  session.assistant("early");
  session.add("message", { timestamp: "never", message: { role: "assistant", content: [] } });
  const times = timesOf(session);
  expect(times.replyMs(1)).toBeUndefined();
  expect(times.replyMs(2)).toBeUndefined();
  expect(times.resultMs(2)).toBeUndefined();
});

it("does not count the pause before a continued run", () => {
  const session = new SessionBuilder();
  session.user("go");
  session.assistant("one");
  session.after(100_000);
  const start = session.now;
  session.assistant("two", { timestamp: start - 4000 });
  expect(timesOf(session).replyMs(2)).toBe(4000);
});

it("notices a new day and another model only on the branch itself", () => {
  const session = new SessionBuilder();
  const first = session.user("one");
  session.assistant("a", { model: "x" });
  session.assistant("b", { model: "x" });
  session.after(90_000);
  session.user("two");
  session.leafId = first;
  session.assistant("c", { model: "y" });
  const times = timesOf(session);
  expect([0, 3].map((index) => times.isNewDay(index))).toEqual([true, true]);
  expect([1, 2, 4].map((index) => times.isNewModel(index))).toEqual([true, false, true]);
});

import { expect, it } from "vitest";
import { FolderTurns } from "./folder-turns.ts";

const quiet = { signal: new AbortController().signal, onWait: () => {} };

it("runs the calls of one folder in order, and those of other folders in parallel", async () => {
  const turns = new FolderTurns();
  const order: string[] = [];
  const gate = Promise.withResolvers<void>();
  const call = (folder: string, name: string, until?: Promise<void>) =>
    turns.run(folder, quiet, async () => {
      order.push(`begin ${name}`);
      await until;
      order.push(`end ${name}`);
    });
  const calls = [call("a", "1", gate.promise), call("a", "2"), call("a", "3")];
  await call("b", "other");
  gate.resolve();
  await Promise.all(calls);
  const others = order.filter((step) => !step.includes("other"));
  expect(others).toEqual(["begin 1", "end 1", "begin 2", "end 2", "begin 3", "end 3"]);
  expect(order.indexOf("end other")).toBeLessThan(order.indexOf("end 1"));
});

it("stops waiting when a call is aborted, reports the wait, and keeps the order", async () => {
  const turns = new FolderTurns();
  const gate = Promise.withResolvers<void>();
  const first = turns.run("a", quiet, () => gate.promise);
  const controller = new AbortController();
  const waits = Promise.withResolvers<void>();
  const options = { signal: controller.signal, onWait: waits.resolve };
  const second = turns.run("a", options, async () => "ran");
  let hasRun = false;
  const third = turns.run("a", quiet, async () => {
    hasRun = true;
  });
  await waits.promise;
  controller.abort();
  await expect(second).rejects.toThrow("abort");
  expect(hasRun).toBe(false);
  gate.resolve();
  await Promise.all([first, third]);
  expect(hasRun).toBe(true);
});

it("leaves no unhandled rejection when a call is aborted that does not wait", async () => {
  const controller = new AbortController();
  const options = { signal: controller.signal, onWait: () => {} };
  const call = new FolderTurns().run("a", options, async () => {
    controller.abort();
    await new Promise((resolve) => setImmediate(resolve));
    return "done";
  });
  expect(await call).toBe("done");
});

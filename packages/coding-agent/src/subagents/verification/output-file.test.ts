import { statSync } from "node:fs";
import { expect, it, onTestFinished, vi } from "vitest";
import { Workspace } from "../../../../system/src/processes/__fixtures__/workspace.ts";
import { OutputFile } from "./output-file.ts";

it("keeps large output in a file and its end in memory, without warnings", async () => {
  const workspace = new Workspace();
  onTestFinished(() => workspace[Symbol.dispose]());
  const onWarning = vi.fn();
  process.on("warning", onWarning);
  onTestFinished(() => void process.off("warning", onWarning));
  const path = workspace.path("much.log");
  const output = new OutputFile(path);
  const chunk = Buffer.alloc(64 * 1024, "x");
  for (let count = 0; count < 100; count++) await output.write(chunk);
  await output.write(Buffer.from("end"));
  const { path: written, tail } = await output.finish();
  expect(written).toBe(path);
  expect(statSync(path).size).toBe(100 * chunk.length + 3);
  expect(tail.endsWith("xend")).toBe(true);
  expect(tail.length).toBeLessThan(400 * 1024);
  expect(onWarning).not.toHaveBeenCalled();
});

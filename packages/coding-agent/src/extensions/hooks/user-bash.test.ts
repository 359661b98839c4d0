import { readFileSync } from "node:fs";
import { openOutput } from "@tau-agent/system";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Workspace } from "../../../../system/src/processes/__fixtures__/workspace.ts";
import type { BashOperations } from "../api/events.ts";
import { runDecidedShell } from "./user-bash.ts";

let workspace: Workspace;
beforeEach(() => {
  workspace = new Workspace();
});
afterEach(() => workspace[Symbol.dispose]());

it("copies an extension's buffers, which the extension may reuse", async () => {
  const data = Buffer.alloc(65_536);
  const operations: BashOperations = {
    exec: async (_command, _cwd, { onData }) => {
      for (const letter of ["a", "b", "c"]) {
        data.fill(`${letter}\n`);
        onData(data);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      return { exitCode: 0 };
    },
  };
  const result = await runDecidedShell(
    { operations },
    { command: "ls", excludeFromContext: false, signal: new AbortController().signal },
    { cwd: workspace.directory, openOutput: () => openOutput(workspace.environment()) },
  );
  const whole = ["a\n", "b\n", "c\n"].map((line) => line.repeat(32_768)).join("");
  expect(readFileSync(result.fullOutputPath ?? "", "utf8")).toBe(whole);
  expect(data).toHaveLength(65_536);
});

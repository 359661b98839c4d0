import { createJustBashSandbox } from "@ai-sdk/sandbox-just-bash";
import { expect, test } from "vitest";
import { patientLimits } from "../conformance/__fixtures__/patient-limits.ts";
import { runChecks } from "../conformance/run-workspace-conformance.ts";
import { justBashWorkspace } from "./__fixtures__/just-bash.ts";
import { fromSandboxSession } from "./from-sandbox-session.ts";

test("a just-bash session passes all checks except those that limited excuses", async () => {
  const { results } = await runChecks(await justBashWorkspace(), patientLimits);
  expect(results.filter(({ ok }) => !ok)).toEqual([]);
  expect(results.filter(({ limited }) => limited === undefined).length).toBeGreaterThan(95);
});

test("a relative folder is refused, and input is unsupported", async () => {
  const session = (await createJustBashSandbox({}).createSession()).restricted();
  expect(() => fromSandboxSession(session, { id: "x", cwd: "here" })).toThrow("absolute");
  const workspace = fromSandboxSession(session, { id: "x", cwd: "/home/user" });
  const started = workspace.spawn({ command: "cat", stdin: "open", onOutput: () => undefined });
  await expect(started).rejects.toMatchObject({ code: "unsupported" });
});

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { toolCall, turn } from "@tau-agent/ai/testing";
import { expect, it, vi } from "vitest";
import { makePdf } from "../../../../packages/system/src/documents/__fixtures__/make-pdf.ts";
import { isAlive, runHost, startHost } from "../support/start-host.ts";

const server = fileURLToPath(
  new URL(
    "../../../../packages/coding-agent/src/diagnostics/__fixtures__/language-server.mjs",
    import.meta.url,
  ),
);

it("a language server ends with its host, also when that is killed", async () => {
  const entry = {
    match: "*.txt",
    // Its log is in the project.
    server: ["sh", "-c", `exec '${process.execPath}' '${server}' well server.log`],
  };
  const host = startHost({
    files: {
      "agent/settings.json": JSON.stringify({
        diagnostics: { entries: [entry] },
        diagnosticsTimeoutMs: 60_000,
      }),
    },
    scenario: [
      turn(toolCall("write", { path: "a.txt", content: "BAD\n" })),
      turn(toolCall("bash", { command: "pwd; sleep 600" })),
    ],
  });
  host.send({ type: "prompt", message: "go", id: "p" });
  const end = await host.until(
    { "...": true, type: "tool_execution_end", toolName: "write" },
    90_000,
  );
  expect(JSON.stringify(end)).toContain("New problems:\\na.txt:1:1: error 7 bad: BAD");
  const log = readFileSync(join(host.place.cwd, "server.log"), "utf8");
  const pid = Number(/^start (\d+)$/m.exec(log)?.[1]);
  expect(isAlive(pid)).toBe(true);
  host.child.kill("SIGKILL");
  await host.ended;
  await vi.waitFor(() => expect(isAlive(pid)).toBe(false), { timeout: 30_000 });
}, 180_000);

it("@file.pdf on the command line is a part of the prompt", async () => {
  const files = { "project/plan.pdf": makePdf(["The plan of the house"]).toString("latin1") };
  const scenario = [{ when: { lastUserIncludes: "The plan of the house" }, content: "read" }];
  const { code, stdout, stderr } = await runHost({
    files,
    scenario,
    arguments: ["-p", "@plan.pdf", "what?"],
  });
  expect([code, stdout.trim(), stderr]).toEqual([0, "read", ""]);
}, 60_000);

import { execFile } from "node:child_process";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { slice } from "../../../../scripts/testing/slice.ts";
import { conformanceProgram } from "./published-server.ts";

const client = fileURLToPath(new URL("conformance-client.ts", import.meta.url));
const command = `"${process.execPath}" -C @tau-agent/source "${client}"`;

function run(scenario: string): Promise<{ code: number; report: string }> {
  const words = [conformanceProgram(), "client", "--command", command, "--scenario", scenario];
  return new Promise((resolve) => {
    execFile(process.execPath, words, { cwd: tmpdir() }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : 1, report: `${stdout}${stderr}` });
    });
  });
}

async function expectPass(scenario: string): Promise<void> {
  const { code, report } = await run(scenario);
  expect(code, report).toBe(0);
}

/** All client scenarios of the project, except those for extensions that Tau does not support. */
const scenarios = [
  "initialize",
  "tools_call",
  "elicitation-sep1034-client-defaults",
  "auth/metadata-default",
  "auth/metadata-var1",
  "auth/metadata-var2",
  "auth/metadata-var3",
  "auth/basic-cimd",
  "auth/scope-from-www-authenticate",
  "auth/scope-from-scopes-supported",
  "auth/scope-omitted-when-undefined",
  "auth/scope-step-up",
  "auth/scope-retry-limit",
  "auth/token-endpoint-auth-basic",
  "auth/token-endpoint-auth-post",
  "auth/token-endpoint-auth-none",
  "auth/pre-registration",
  "auth/2025-03-26-oauth-metadata-backcompat",
  "auth/2025-03-26-oauth-endpoint-fallback",
  "auth/resource-mismatch",
  "auth/offline-access-scope",
  "auth/offline-access-not-supported",
];

describe("the MCP project's tests of clients", () => {
  // This scenario asserts timing, so it runs alone.
  it("pass: sse-retry", () => expectPass("sse-retry"));

  describe.concurrent("in parallel", () => {
    it.for(slice(scenarios, 3))("pass: %s", async (scenario) => {
      await expectPass(scenario);
    });
  });
});

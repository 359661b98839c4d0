import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { KnownKeys } from "./known-keys.ts";
import { createKeyMask } from "./mask-keys.ts";

let agentDirectory: string;
beforeEach(() => {
  agentDirectory = mkdtempSync(join(tmpdir(), "tau-mask-"));
});
afterEach(() => rmSync(agentDirectory, { recursive: true }));

const mask = (environment: Record<string, string> = {}, used: string[] = []) =>
  createKeyMask({ environment, known: new KnownKeys(agentDirectory), used: () => used });

/** Writes a file; `ageSeconds` is how long ago that seems to be. */
function write(name: string, text: string, ageSeconds = 0): void {
  const path = join(agentDirectory, name);
  writeFileSync(path, text);
  const time = Date.now() / 1000 - ageSeconds;
  utimesSync(path, time, time);
}

it("knows keys of files, of variables that files name, and those that were used", () => {
  write("auth.json", '{"one":{"type":"api_key","key":"secret-in-auth"}}');
  write("models.json", '{"providers":{"two":{"apiKey":"MY_OWN_KEY"}}}');
  write("rpc-token", "secret-of-the-rpc\n");
  const masked = mask({ MY_OWN_KEY: "secret-in-variable" }, ["secret-that-was-used"]);
  expect(
    masked("secret-in-auth secret-of-the-rpc secret-in-variable secret-that-was-used other"),
  ).toBe("[redacted] [redacted] [redacted] [redacted] other");
});

it("notices a file that appears, changes or goes, however often it was asked before", () => {
  const masked = mask();
  const shown = () => masked("first-secret-1 other-secret-2");
  for (let round = 0; round < 3; round++) {
    expect(shown()).toBe("first-secret-1 other-secret-2");
    write("auth.json", '{"a":{"key":"first-secret-1"}}', 60);
    expect([shown(), shown()]).toEqual(Array(2).fill("[redacted] other-secret-2"));
    // The same size, and the clock of the file system may not have moved either.
    write("auth.json", '{"a":{"key":"other-secret-2"}}', 60);
    expect([shown(), shown()]).toEqual(Array(2).fill("first-secret-1 [redacted]"));
    rmSync(join(agentDirectory, "auth.json"));
  }
});

it("reads long and broken files in time", () => {
  const quoted = JSON.stringify(JSON.stringify(Array.from({ length: 20_000 }, () => ({ a: "b" }))));
  write(
    "mcp.json",
    `{"mcpServers":{"a":{"env":{"LIST":${quoted}},"args":["${'\\"'.repeat(100_000)}`,
  );
  const began = performance.now();
  expect(mask()("text")).toBe("text");
  expect(performance.now() - began).toBeLessThan(1500);
});

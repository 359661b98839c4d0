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

/** Writes a file that seems to be `ageSeconds` old. */
function write(name: string, text: string, ageSeconds = 0): void {
  const path = join(agentDirectory, name);
  writeFileSync(path, text);
  const time = Date.now() / 1000 - ageSeconds;
  utimesSync(path, time, time);
}

it("finds keys in files, in variables that files name, and keys that were used", () => {
  write("auth.json", '{"one":{"type":"api_key","key":"secret-in-auth"}}');
  write("models.json", '{"providers":{"two":{"apiKey":"MY_OWN_KEY"}}}');
  write("rpc-token", "secret-of-the-rpc\n");
  const masked = mask({ MY_OWN_KEY: "secret-in-variable" }, ["secret-that-was-used"]);
  expect(
    masked("secret-in-auth secret-of-the-rpc secret-in-variable secret-that-was-used other"),
  ).toBe("[redacted] [redacted] [redacted] [redacted] other");
});

it("notices a file that appears, changes or disappears, however often it was read before", () => {
  const masked = mask();
  const shown = () => masked("first-secret-1 other-secret-2");
  for (let round = 0; round < 3; round++) {
    expect(shown()).toBe("first-secret-1 other-secret-2");
    write("auth.json", '{"a":{"key":"first-secret-1"}}', 60);
    expect([shown(), shown()]).toEqual(Array(2).fill("[redacted] other-secret-2"));
    // The new file has the same size, and the clock of the file system may not have advanced.
    write("auth.json", '{"a":{"key":"other-secret-2"}}', 60);
    expect([shown(), shown()]).toEqual(Array(2).fill("first-secret-1 [redacted]"));
    rmSync(join(agentDirectory, "auth.json"));
  }
});

it("reads long and malformed files quickly", () => {
  const quoted = JSON.stringify(JSON.stringify(Array.from({ length: 20_000 }, () => ({ a: "b" }))));
  write(
    "mcp.json",
    `{"mcpServers":{"a":{"env":{"LIST":${quoted}},"args":["${'\\"'.repeat(100_000)}`,
  );
  const began = performance.now();
  expect(mask()("text")).toBe("text");
  expect(performance.now() - began).toBeLessThan(1500);
});

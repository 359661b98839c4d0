import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { toolCall, turn } from "@tau-agent/ai/testing";
import type { PermissionRule } from "@tau-agent/rpc-protocol";
import { describe, expect, it } from "vitest";
import { createTestSession, placesIn, temporaryFolder } from "./__fixtures__/test-session.ts";

/** Calls a tool in a project with secrets, and returns its result as text. */
async function call(name: string, args: Record<string, unknown>, rules: readonly PermissionRule[]) {
  const folder = temporaryFolder();
  const places = placesIn(folder);
  for (const inner of ["secrets/deep", "src", "packages/a/secrets"]) {
    mkdirSync(join(places.cwd, inner), { recursive: true });
  }
  for (const file of ["secrets/deep/key.txt", "src/one.txt", "packages/a/secrets/key.txt"]) {
    writeFileSync(join(places.cwd, file), `word of ${file}\nafter\n`);
  }
  symlinkSync(places.cwd, join(folder, "link"));
  const { session } = await createTestSession([turn(toolCall(name, args)), "done"], {
    ...places,
    permissions: { mode: "all", rules },
  });
  await session.prompt("go");
  return JSON.stringify(session.messages.find(({ role }) => role === "toolResult"));
}

const denied: PermissionRule = { tool: "*", match: "secrets/**", action: "deny" };

describe("a search", () => {
  it.each([
    ["grep", { pattern: "word" }],
    ["grep", { pattern: "after", path: ".", context: 3 }],
    ["grep", { pattern: "word", path: "../link" }],
    ["grep", { pattern: "word", glob: "**/*.txt" }],
    ["find", { pattern: "**/*" }],
    ["find", { pattern: "*.txt", path: ".." }],
    ["ls", {}],
    ["ls", { path: "../link" }],
  ])("omits files that a rule denies: %s %o", async (name, args) => {
    for (const action of ["deny", "ask"] as const) {
      const text = await call(name, args, [{ ...denied, action }]);
      expect(text).toContain("src");
      expect(text).not.toContain("key.txt:1: word of secrets");
      expect(text).not.toMatch(/(?<!a\/)secrets(?:\/|\\|")/);
    }
  });

  it("omits files below any folder, if the rule says so", async () => {
    const text = await call("grep", { pattern: "word" }, [{ ...denied, match: "**/secrets/**" }]);
    expect(text).toContain("src/one.txt");
    expect(text).not.toContain("key.txt");
  });

  it("omits nothing if the rule is for another tool or allows", async () => {
    const others: PermissionRule[] = [
      { ...denied, tool: "read" },
      { ...denied, action: "allow" },
    ];
    expect(await call("grep", { pattern: "word" }, others)).toContain("secrets/deep/key.txt");
  });

  it("is denied for the folder itself", async () => {
    expect(await call("grep", { pattern: "word", path: "secrets" }, [denied])).toContain(
      '"isError":true',
    );
  });
});

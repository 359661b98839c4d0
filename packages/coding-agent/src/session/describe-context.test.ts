import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { scriptedModel, toolCall, turn } from "@tau-agent/ai/testing";
import { SettingsStore } from "@tau-agent/system";
import { expect, it } from "vitest";
import {
  createTestSession,
  placesIn,
  temporaryFolder,
} from "../create/__fixtures__/test-session.ts";

const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const long = "some words of a text that goes on ".repeat(1200);

/** A project with instructions, a skill and a large file, and a model that reads the file on request. */
async function start() {
  const places = placesIn(temporaryFolder());
  const cwd = places.cwd ?? "";
  const skill = join(cwd, ".pi", "skills", "release");
  mkdirSync(skill, { recursive: true });
  writeFileSync(join(cwd, "AGENTS.md"), `Be careful. ${long}`);
  writeFileSync(
    join(skill, "SKILL.md"),
    "---\nname: release\ndescription: Publishes.\n---\nDo it.\n",
  );
  writeFileSync(join(cwd, "a.txt"), `a\n${long}`);
  writeFileSync(join(cwd, "b.txt"), `b\n${long}`);
  writeFileSync(join(cwd, "c.txt"), `c\n${long}`);
  let requested: unknown;
  const test = await createTestSession(
    (request) => {
      requested = { ...request };
      if (request.systemPrompt.includes("summaries")) return "SUMMARY";
      const [verb, path] = request.lastUserText.split(" ");
      return verb === "read" && request.toolResults.length === 0
        ? turn([toolCall("read", { path }), toolCall("ls", {})])
        : "done";
    },
    {
      ...places,
      trustProject: true,
      model: scriptedModel({ contextWindow: 123_456 }),
      settings: SettingsStore.inMemory({ "compaction.keepRecentTokens": 20 }),
    },
  );
  return { ...test, cwd, requested: () => JSON.stringify(requested).length / 4 };
}

it("reports the content of the next request, by kind, with rows that add up", async () => {
  const { session, cwd, requested } = await start();
  const before = await session.context();
  expect(before.rows.map(({ kind }) => kind)).toEqual([
    "system",
    "context_files",
    "skills",
    "tools",
  ]);
  await session.prompt("read a.txt", {
    images: [{ type: "image", data: png, mimeType: "image/png" }],
  });
  const report = await session.context();
  expect(report).toMatchObject({ contextWindow: 123_456, estimated: true, cleared: [] });
  expect(report.used).toBe(report.rows.reduce((sum, { tokens }) => sum + tokens, 0));
  expect(report.rows.every(({ tokens }) => Number.isInteger(tokens) && tokens > 0)).toBe(true);
  const row = (kind: string, name?: string) =>
    report.rows.find((each) => each.kind === kind && each.name === name)?.tokens ?? 0;
  expect(row("context_files", join(cwd, "AGENTS.md"))).toBeGreaterThan(5000);
  expect(row("tool_results", "read")).toBeGreaterThan(5000);
  expect(row("tool_results", "ls")).toBeGreaterThan(0);
  expect(row("images")).toBe(1200);
  expect(row("messages")).toBeLessThan(200);
  expect(row("system")).toBeLessThan(1000);
  expect(report.used).toBeGreaterThan(requested() / 2);
  expect(report.used).toBeLessThan(requested() * 2);
});

it("counts a cleared result as its line, and names it", async () => {
  const { session } = await start();
  const files = ["a.txt", "b.txt", "c.txt"];
  for (const file of files) await session.prompt(`read ${file}`);
  const before = await session.context();
  expect(before.cleared).toEqual([]);
  for (const prompt of ["on", "on"]) await session.prompt(prompt);
  const after = await session.context();
  expect(after.used).toBeLessThan(before.used / 2);
  expect(after.cleared).toHaveLength(files.length);
  for (const { entryId, tokens } of after.cleared) {
    expect(session.log.tree.get(entryId)).toMatchObject({ message: { toolName: "read" } });
    expect(tokens).toBeGreaterThan(5000);
  }
  await session.compact();
  const { rows, cleared } = await session.context();
  expect(rows.map(({ kind }) => kind)).toContain("summary");
  expect(cleared).toEqual([]);
});

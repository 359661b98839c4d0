import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SessionEntry } from "@tau-agent/rpc-protocol";
import { expect, it } from "vitest";
import { placesIn, temporaryFolder } from "../../create/__fixtures__/test-session.ts";
import { createHostModules } from "../host-modules.ts";

// biome-ignore lint/suspicious/noExplicitAny: extensions use these modules untyped, as this test does
async function load(folder = temporaryFolder()): Promise<Record<string, any>> {
  const { cwd } = placesIn(folder);
  const agentDirectory = join(folder, "agent");
  const modules = createHostModules({ cwd, agentDirectory, homeDirectory: folder, version: "1" });
  return (await modules["@earendil-works/pi-coding-agent"]?.()) ?? {};
}

const model = { id: "m", provider: "p", api: "x" };
const user = (content: string) => ({ role: "user", content, timestamp: 1 });

/** Answers with the text of the request. */
function echo(stopReason = "stop") {
  const asked: { text: string; options: Record<string, unknown> }[] = [];
  const streamFn = async (
    _model: object,
    context: { messages: { content: string }[] },
    options: Record<string, unknown>,
  ) => {
    const text = context.messages[0]?.content ?? "";
    asked.push({ text, options });
    const content = [{ type: "text", text: `about ${asked.length}` }];
    return {
      result: async () => ({ content, stopReason, errorMessage: "no", usage: { input: 1 } }),
    };
  };
  return { asked, streamFn };
}

it("requests summaries for both older and newer signatures", async () => {
  const { generateSummary, generateSummaryWithUsage } = await load();
  const { asked, streamFn } = echo();
  const { signal } = new AbortController();
  const headers = { "x-a": "b" };
  const newer = [headers, signal, "the tests", "what was", "high", streamFn];
  expect(await generateSummaryWithUsage([user("hi")], model, 100, "key", ...newer)).toEqual({
    text: "about 1",
    usage: { input: 1 },
  });
  expect(asked[0]?.options).toMatchObject({ apiKey: "key", headers, reasoning: "high" });
  for (const part of ["hi", "the tests", "what was"]) expect(asked[0]?.text).toContain(part);
  const older = [signal, "the docs", undefined, streamFn];
  expect(await generateSummary([user("hi")], model, 100, "key", ...older)).toBe("about 2");
  expect(asked[1]?.text).toContain("the docs");
  const failing = echo("error").streamFn;
  await expect(generateSummary([], model, 1, "k", undefined, failing)).rejects.toThrow("no");
});

it("makes an extension's own compaction in the host's form", async () => {
  const { compact } = await load();
  const { asked, streamFn } = echo();
  const call = { type: "toolCall", id: "1", name: "read", arguments: { path: "a.ts" } };
  const preparation = {
    firstKeptEntryId: "e9",
    messagesToSummarize: [user("first"), { role: "assistant", content: [call], timestamp: 2 }],
    turnPrefixMessages: [user("second")],
    isSplitTurn: true,
    tokensBefore: 500,
  };
  const result = await compact(
    preparation,
    model,
    "key",
    undefined,
    undefined,
    undefined,
    streamFn,
  );
  expect(result).toMatchObject({ firstKeptEntryId: "e9", tokensBefore: 500 });
  expect(result.details).toEqual({ readFiles: ["a.ts"], modifiedFiles: [] });
  for (const part of ["about 1", "about 2", "a.ts"]) expect(result.summary).toContain(part);
  expect(asked).toHaveLength(2);
});

it("cuts, compares and reads a branch like the host", async () => {
  const pi = await load();
  const entries = ["one", "two", "three"].map((text, index) => ({
    type: "message",
    id: `e${index}`,
    parentId: index === 0 ? null : `e${index - 1}`,
    timestamp: "2026-01-01T00:00:00.000Z",
    message: user(text.repeat(50)),
  })) as unknown as SessionEntry[];
  expect(pi.findCutPoint(entries, 0, 3, 10)).toEqual({
    firstKeptEntryIndex: 2,
    turnStartIndex: -1,
    isSplitTurn: false,
  });
  expect(pi.findTurnStartIndex(entries, 1, 0)).toBe(1);
  expect(pi.buildContextEntries(entries, "e1")).toHaveLength(2);
  expect(pi.sessionEntryToContextMessages(entries[0])).toMatchObject([{ role: "user" }]);
  const session = { getBranch: (id: string) => entries.slice(0, Number(id.slice(1)) + 1) };
  const left = pi.collectEntriesForBranchSummary(session, "e2", "e0");
  expect(left).toMatchObject({ entries: [{ id: "e1" }, { id: "e2" }], commonAncestorId: "e0" });
  const { streamFn } = echo();
  expect(await pi.generateBranchSummary(left.entries, { model, streamFn })).toMatchObject({
    summary: "about 1",
    readFiles: [],
  });
  const failing = { model, streamFn: echo("error").streamFn };
  expect(await pi.generateBranchSummary(left.entries, failing)).toMatchObject({
    error: expect.stringContaining("no"),
  });
});

it("reports changes of files and content of directories synchronously", async () => {
  const folder = temporaryFolder();
  const pi = await load(folder);
  const { cwd } = placesIn(folder);
  const { diff, firstChangedLine } = pi.generateDiffString("a\nb\nc\n", "a\nB\nc\n");
  expect([firstChangedLine, diff.split("\n")]).toEqual([2, [" 1 a", "-2 b", "+2 B", " 3 c"]]);
  expect(pi.generateUnifiedPatch("x.txt", "a\n", "b\n")).toContain("+++ b/x.txt");
  for (const [place, text] of [
    [join(cwd, ".pi", "skills"), "near"],
    [join(folder, "agent", "skills"), "far"],
  ] as const) {
    mkdirSync(join(place, "sew"), { recursive: true });
    writeFileSync(join(place, "sew", "SKILL.md"), `---\nname: sew\ndescription: ${text}\n---\n`);
  }
  expect(pi.loadSkills({ cwd }).skills).toMatchObject([{ name: "sew", description: "near" }]);
  expect(pi.loadSkills({ cwd, includeDefaults: false }).skills).toEqual([]);
  writeFileSync(join(cwd, "AGENTS.md"), "Be tidy.");
  expect(pi.loadProjectContextFiles({ cwd })).toContainEqual({
    path: join(cwd, "AGENTS.md"),
    content: "Be tidy.",
  });
  expect(await pi.detectSupportedImageMimeTypeFromFile(join(cwd, "AGENTS.md"))).toBeNull();
  expect(pi.hasTrustRequiringProjectResources(cwd)).toBe(false);
  writeFileSync(join(cwd, ".pi", "settings.json"), "{}");
  expect(pi.hasTrustRequiringProjectResources(cwd)).toBe(true);
  expect(pi.formatReadLineRange({ offset: 3, limit: 2 })).toBe(":3-4");
});

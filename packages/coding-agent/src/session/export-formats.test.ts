import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exportExtensions, SessionError } from "@tau-agent/rpc-protocol/plain";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sliceSize } from "../../../../scripts/testing/slice.ts";
import { sessionFile } from "../../../sessions/src/log/__fixtures__/random-session.ts";
import { checkAtif } from "../../../trajectories/src/__fixtures__/check-atif.ts";
import { createAgentSession } from "../create/create-session.ts";
import { exportSession, exportSessionFile } from "./export-session.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tau-export-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const header = (id: string, more: object = {}) => ({
  type: "session",
  version: 3,
  id,
  timestamp: "2026-11-20T09:12:00.000Z",
  cwd: "/home/ada",
  ...more,
});
const cost = { input: 0.25, output: 0.5, cacheRead: 0, cacheWrite: 0, total: 0.75 };
const usage = { input: 10, output: 5, cacheRead: 100, cacheWrite: 7, cost };
const reply = (content: unknown) => ({
  role: "assistant",
  content,
  api: "scripted",
  provider: "scripted",
  model: "m1",
  usage,
  stopReason: "stop",
  timestamp: 0,
});
const call = (id: string, name: string, given: object) => ({
  type: "toolCall",
  id,
  name,
  arguments: given,
});
const answer = (toolCallId: string, text: string, more: object = {}) => ({
  role: "toolResult",
  toolCallId,
  toolName: "bash",
  content: [{ type: "text", text }],
  isError: false,
  timestamp: 0,
  ...more,
});

/** Writes entries, each below the previous one unless it has a `parentId`. */
function write(name: string, first: object, entries: readonly object[]): string {
  const path = join(folder, name);
  const lines = entries.map((entry, index) => ({
    id: `e${index}`,
    parentId: index === 0 ? null : `e${index - 1}`,
    timestamp: new Date(Date.UTC(2026, 10, 20, 9, 12, index)).toISOString(),
    ...("role" in entry ? { type: "message", message: entry } : entry),
  }));
  writeFileSync(path, [first, ...lines].map((line) => `${JSON.stringify(line)}\n`).join(""));
  return path;
}

async function atifOf(path: string) {
  const written = await exportSessionFile(path, {
    cwd: folder,
    format: "atif",
    outputPath: "t.json",
  });
  const text = readFileSync(written, "utf8");
  expect(checkAtif(text)).toEqual([]);
  return JSON.parse(text);
}

describe("a session exported as a trajectory", () => {
  it("has a step for each message, and each result next to its call", async () => {
    const path = write("s.jsonl", header("s1"), [
      { type: "thinking_level_change", thinkingLevel: "high" },
      {
        role: "user",
        content: [
          { type: "text", text: "look" },
          { type: "image", data: "AA==", mimeType: "image/png" },
        ],
        timestamp: 0,
      },
      reply([
        { type: "thinking", thinking: "two files" },
        { type: "text", text: "I look." },
        call("c1", "bash", { command: "ls" }),
        call("c2", "bash", { command: "pwd" }),
      ]),
      answer("c2", "/home"),
      answer("c1", "no such file", { isError: true }),
      { type: "approval", phase: "answered", toolCallId: "c9", decision: "deny", by: "client" },
      reply([call("c1", "bash", { command: "sleep 9" })]),
      { type: "compaction", summary: "so far", firstKeptEntryId: "e6", tokensBefore: 900 },
      reply([{ type: "text", text: "done" }]),
      { role: "user", content: "a\ud800b", timestamp: 0 },
    ]);
    const made = await atifOf(path);
    expect(made.steps.map(({ source }: { source: string }) => source)).toEqual([
      "user",
      "agent",
      "agent",
      "system",
      "agent",
      "user",
    ]);
    const [asked, first, second, compacted] = made.steps;
    expect(asked.message[1].source.path).toBe("data:image/png;base64,AA==");
    expect(first).toMatchObject({
      timestamp: "2026-11-20T09:12:02.000Z",
      model_name: "m1",
      reasoning_effort: "high",
      reasoning_content: "two files",
      message: "I look.",
      metrics: { prompt_tokens: 117, cached_tokens: 100, completion_tokens: 5, cost_usd: 0.75 },
    });
    const content = ({ content: text, extra }: { content: string; extra?: object }) => [
      text,
      extra,
    ];
    expect(first.observation.results.map(content)).toEqual([
      ["no such file", { is_error: true }],
      ["/home", undefined],
    ]);
    expect(second.observation.results.map(content)).toEqual([
      ["No result was recorded.", { is_missing: true }],
    ]);
    expect(compacted.extra.context_management).toEqual({
      type: "compaction",
      boundary: "truncate",
      kept_from_step_id: 3,
    });
    expect(made.steps[5].message).toBe("a\ufffdb");
    expect(made.final_metrics).toMatchObject({ total_prompt_tokens: 351, total_steps: 6 });
  });

  it("embeds subagents from the session's folder, and only from there", async () => {
    const secret = write("secret.jsonl", header("secret"), [
      { role: "user", content: "psst", timestamp: 0 },
    ]);
    const results = (...files: readonly string[]) => ({
      toolName: "task",
      details: {
        results: files.map((sessionFile, index) => ({
          id: `t${index}`,
          agent: "task",
          sessionFile,
        })),
      },
    });
    const path = write("s.jsonl", header("s1"), [
      { role: "user", content: "go", timestamp: 0 },
      reply([call("c1", "task", {})]),
      answer(
        "c1",
        "done",
        results("/else/s/a.jsonl", "/else/s/gone.jsonl", secret, join(folder, "s.jsonl")),
      ),
      reply([call("c2", "task", {})]),
      answer("c2", "again", results("/else/s/a.jsonl")),
    ]);
    mkdirSync(join(folder, "s", "a"), { recursive: true });
    write("s/a.jsonl", header("sub"), [
      { role: "user", content: "part", timestamp: 0 },
      reply([call("n1", "task", {})]),
      answer("n1", "nested done", results("/x/nested.jsonl", "/x/a.jsonl")),
    ]);
    write("s/a/nested.jsonl", header("nested"), [{ role: "user", content: "deep", timestamp: 0 }]);
    const made = await atifOf(path);
    expect(made.subagent_trajectories).toHaveLength(1);
    const [sub] = made.subagent_trajectories;
    expect(sub).toMatchObject({ trajectory_id: "sub", steps: [{ message: "part" }, {}] });
    expect(sub.subagent_trajectories).toMatchObject([{ steps: [{ message: "deep" }] }]);
    const references = made.steps.flatMap(
      ({ observation }: { observation?: { results: { subagent_trajectory_ref?: object[] }[] } }) =>
        observation?.results.flatMap((result) => result.subagent_trajectory_ref ?? []) ?? [],
    );
    expect(references).toMatchObject([
      { trajectory_id: "sub", extra: { id: "t0" } },
      { trajectory_id: "sub", extra: { id: "t0" } },
    ]);
  });
});

it("opens a JSONL export as the same session, with all branches, names, labels and entries", async () => {
  const path = write("s.jsonl", header("s1"), [
    { role: "user", content: "one", timestamp: 0 },
    reply([{ type: "text", text: "1" }]),
    { type: "message", parentId: "e0", message: reply([{ type: "text", text: "another 1" }]) },
    { type: "label", targetId: "e1", label: "first" },
    { type: "custom", customType: "mine", data: { kept: ["\u0000", "\ud800"] } },
    { type: "session_info", name: "Named" },
    { type: "of_the_future", anything: 1 },
  ]);
  const outputPath = await exportSessionFile(path, {
    cwd: folder,
    format: "jsonl",
    outputPath: "out.jsonl",
  });
  expect(readFileSync(outputPath)).toEqual(readFileSync(path));
  const open = (file: string) =>
    createAgentSession({
      cwd: folder,
      agentDirectory: folder,
      session: { kind: "file", path: file },
    });
  await using one = await open(path);
  await using other = await open(outputPath);
  expect(other.log.header).toEqual(one.log.header);
  expect(other.log.name).toBe("Named");
  const stored = ({ navigation }: typeof one) =>
    navigation.entries().entries.filter(({ id }) => /^e\d$/.test(id));
  expect(stored(one)).toHaveLength(7);
  expect(stored(other)).toEqual(stored(one));
  expect(JSON.stringify(other.navigation.tree())).toContain('"label":"first"');
  // An export must not overwrite a session that can be continued.
  await expect(
    exportSessionFile(path, { cwd: folder, format: "jsonl", outputPath: "out.jsonl" }),
  ).rejects.toMatchObject({ code: "export_failed" });
  const again = join(folder, "again.jsonl");
  await exportSession(other, { format: "jsonl", outputPath: again });
  expect(readFileSync(again)).toEqual(readFileSync(outputPath));
});

it("separates the fences of results and open code blocks of replies in Markdown from the following text", async () => {
  const path = write("s.jsonl", header("s1", { cwd: "/a`b" }), [
    { role: "user", content: "show\n```", timestamp: 0 },
    reply([
      { type: "text", text: "~~~js\nopen" },
      call("c1", "bash", { command: "cat README.md" }),
    ]),
    answer("c1", "````md\n```js\n1\n```\n````"),
    { type: "session_info", name: "Two\nlines" },
  ]);
  const outputPath = await exportSessionFile(path, {
    cwd: folder,
    format: "markdown",
    outputPath: "s.md",
  });
  const text = readFileSync(outputPath, "utf8");
  expect(text).toContain("# Two lines\n\nSession `s1` · in `` /a`b `` ");
  expect(text).toContain("## User\n\nshow\n```\n```\n");
  expect(text).toContain("~~~js\nopen\n~~~\n\n**Call of `bash`**\n\n```sh\ncat README.md\n```\n");
  expect(text).toContain("`````\n````md\n```js\n1\n```\n````\n`````");
});

it("exports any session file as a valid file or explains in one sentence why not, in every format", async () => {
  const formats = Object.keys(exportExtensions) as (keyof typeof exportExtensions)[];
  await fc.assert(
    fc.asyncProperty(sessionFile, async (bytes) => {
      const path = join(folder, "random.jsonl");
      writeFileSync(path, bytes);
      for (const format of formats.filter((name) => name !== "html")) {
        const outputPath = join(folder, `out.${format}.txt`);
        rmSync(outputPath, { force: true });
        const done = await exportSessionFile(path, { cwd: folder, format, outputPath }).catch(
          (error: unknown) => error,
        );
        if (done instanceof SessionError)
          expect(done.code).toMatch(/^(session_invalid|session_damaged|nothing_to_export)$/);
        else if (format === "atif") expect(checkAtif(readFileSync(outputPath, "utf8"))).toEqual([]);
        else expect(done).toBe(outputPath);
      }
    }),
    { numRuns: sliceSize(60, 600), endOnFailure: true },
  );
});

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SessionEntryOf } from "@tau-agent/rpc-protocol";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import { buildSessionContext } from "@tau-agent/sessions/log";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sliceSize } from "../../../../scripts/testing/slice.ts";
import { type ImportRequest, importTranscript } from "./import-transcript.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tau-import-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

type Message = SessionEntryOf<"message">;

async function imported(content: string | Buffer, from?: ImportRequest["from"]) {
  const path = join(folder, "transcript.jsonl");
  writeFileSync(path, content);
  const { pieces, report } = await importTranscript({ path, from, cwd: "/project" });
  let text = "";
  for await (const piece of pieces) text += piece;
  const [header, ...entries] = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  return { header, entries, report, messages: messagesOf(entries) };
}

/** The messages that the model would see. */
function messagesOf(entries: readonly Message[]) {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const branch: Message[] = [];
  for (let entry = entries.at(-1); entry !== undefined; entry = byId.get(entry.parentId ?? "-")) {
    branch.unshift(entry);
  }
  return buildSessionContext(branch).messages as Record<string, unknown>[];
}

const lines = (...objects: readonly object[]) =>
  objects.map((object) => `${JSON.stringify(object)}\n`).join("");
const at = (second: number) => ({
  timestamp: new Date(Date.UTC(2026, 0, 2, 3, 4, second)).toISOString(),
});

const claude = (uuid: string, parentUuid: string | null, second: number, more: object) => ({
  parentUuid,
  isSidechain: false,
  cwd: "/home/ada/app",
  sessionId: "5f1c",
  version: "2.1.12",
  uuid,
  ...at(second),
  ...more,
});
const said = (id: string, block: object, more: object = {}) => ({
  type: "assistant",
  message: {
    id,
    role: "assistant",
    model: "claude-opus-4-5",
    content: [block],
    stop_reason: null,
    usage: {
      input_tokens: 3,
      output_tokens: 9,
      cache_read_input_tokens: 70,
      cache_creation_input_tokens: 20,
    },
    ...more,
  },
});
const asked = (content: unknown, more: object = {}) => ({
  type: "user",
  message: { role: "user", content },
  ...more,
});
const result = (id: string, content: unknown, more: object = {}) =>
  asked([{ type: "tool_result", tool_use_id: id, content, ...more }]);

const claudeSession = [
  { type: "summary", summary: "Old title", leafUuid: "x" },
  { type: "file-history-snapshot", messageId: "u1", snapshot: {} },
  claude("m0", null, 0, asked("Caveat: local commands", { isMeta: true })),
  claude("u1", "m0", 1, asked("list the files")),
  claude(
    "a1",
    "u1",
    2,
    said("msg_1", { type: "thinking", thinking: "ls will do", signature: "sig" }),
  ),
  claude(
    "a2",
    "a1",
    3,
    said("msg_1", { type: "tool_use", id: "t1", name: "Bash", input: { command: "ls" } }),
  ),
  claude("r1", "a2", 4, result("t1", "a.txt")),
  claude("a3", "r1", 5, said("msg_1", { type: "tool_use", id: "t2", name: "mcp__x.y", input: {} })),
  claude("r2", "a3", 6, result("t2", [{ type: "text", text: "no" }], { is_error: true })),
  claude("s1", "r2", 7, { type: "system", subtype: "informational", content: "note" }),
  claude("side", "s1", 7, { ...asked("of a subagent"), isSidechain: true }),
  claude(
    "a4",
    "s1",
    8,
    said("msg_2", { type: "text", text: "One file." }, { stop_reason: "end_turn" }),
  ),
  claude(
    "u2",
    "u1",
    9,
    asked([
      { type: "text", text: "count them" },
      { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
    ]),
  ),
  claude("a5", "u2", 10, said("msg_3", { type: "text", text: "1" })),
];

describe("Claude Code transcripts", () => {
  it("become messages, calls, results, times and usage on the right branches", async () => {
    const { entries, header, messages, report } = await imported(lines(...claudeSession));
    expect(header).toMatchObject({ type: "session", version: 3, cwd: "/project" });
    const kinds = entries.map(({ type, message }: Message) => message?.role ?? type);
    expect(kinds).toEqual([
      "custom_message",
      "user",
      "assistant",
      "toolResult",
      "toolResult",
      "assistant",
      "user",
      "assistant",
      "custom",
    ]);
    expect(entries[2]).toMatchObject({
      timestamp: at(2).timestamp,
      message: {
        provider: "anthropic",
        model: "claude-opus-4-5",
        stopReason: "toolUse",
        content: [
          { type: "thinking", thinking: "ls will do" },
          { type: "toolCall", id: "t1", name: "Bash", arguments: { command: "ls" } },
          { type: "toolCall", id: "t2", name: "mcp__x_y" },
        ],
        usage: { input: 3, output: 9, cacheRead: 70, cacheWrite: 20 },
      },
    });
    expect(entries[4].message).toMatchObject({ toolCallId: "t2", isError: true });
    // The last prompt is on another branch than the first answer.
    expect(entries[6].parentId).toBe(entries[1].id);
    expect(messages.map(({ role }) => role)).toEqual(["custom", "user", "user", "assistant"]);
    expect(messages[2]).toMatchObject({
      content: [{ text: "count them" }, { type: "image", data: "AAAA", mimeType: "image/png" }],
    });
    expect(report).toMatchObject({
      agent: "claude-code",
      messages: 5,
      calls: 2,
      results: 2,
      origin: { version: "2.1.12", cwd: "/home/ada/app" },
    });
    expect(Object.fromEntries(report.leftOut)).toEqual({
      "lines of type summary": 1,
      "lines of type file-history-snapshot": 1,
      "lines of type system": 1,
      "messages of subagents": 1,
    });
  });

  it("continue with the summary after a compaction, and keep a failed reply in the file", async () => {
    const { messages, entries } = await imported(
      lines(
        ...claudeSession.slice(3, 4),
        claude("c1", null, 20, {
          type: "system",
          subtype: "compact_boundary",
          logicalParentUuid: "u1",
          compactMetadata: { preTokens: 155_000 },
        }),
        claude("c2", "c1", 21, asked("In short: ls.", { isCompactSummary: true })),
        claude("e1", "c2", 22, {
          ...said("x", { type: "text", text: "API Error: 529" }),
          isApiErrorMessage: true,
        }),
        claude("u3", "e1", 23, asked("go on")),
        claude("a9", "u3", 24, said("msg_9", { type: "text", text: "done" })),
      ),
    );
    expect(messages.map(({ role, summary, content }) => summary ?? [role, content])).toMatchObject([
      "In short: ls.",
      expect.anything(),
      ["user", [{ text: "go on" }]],
      ["assistant", [{ text: "done" }]],
    ]);
    expect(entries[1]).toMatchObject({ type: "compaction", tokensBefore: 155_000 });
    expect(entries[2].message).toMatchObject({
      stopReason: "error",
      errorMessage: "API Error: 529",
    });
  });
});

const item = (payload: object, second = 1) => ({ ...at(second), type: "response_item", payload });
const event = (payload: object) => ({ ...at(9), type: "event_msg", payload });
const tokens = (input: number, output: number) =>
  event({
    type: "token_count",
    info: {
      last_token_usage: {
        input_tokens: input,
        cached_input_tokens: 40,
        output_tokens: output,
        reasoning_output_tokens: 2,
      },
    },
  });
const text = (role: string, words: string) =>
  item({
    type: "message",
    role,
    content: [{ type: role === "assistant" ? "output_text" : "input_text", text: words }],
  });

describe("Codex transcripts", () => {
  it("become messages, calls, results, times and usage", async () => {
    const { messages, report } = await imported(
      lines(
        {
          ...at(0),
          type: "session_meta",
          payload: { id: "019a", cwd: "/home/ada/app", cli_version: "0.58.0" },
        },
        { ...at(0), type: "turn_context", payload: { model: "gpt-5-codex", effort: "high" } },
        text("developer", "rules"),
        text("user", "<environment_context>here</environment_context>"),
        text("user", "list"),
        event({ type: "user_message", message: "list" }),
        item({
          type: "reasoning",
          summary: [{ type: "summary_text", text: "ls" }],
          encrypted_content: "…",
        }),
        item(
          { type: "function_call", name: "shell", call_id: "c1", arguments: '{"command":["ls"]}' },
          3,
        ),
        tokens(100, 12),
        event({ type: "token_count", info: null, rate_limits: {} }),
        item({
          type: "function_call_output",
          call_id: "c1",
          output: '{"output":"a.txt","metadata":{"exit_code":2}}',
        }),
        tokens(100, 12),
        text("assistant", "One."),
        tokens(130, 3),
        item({ type: "custom_tool_call", name: "apply_patch", call_id: "c2", input: "*** Begin" }),
        item({ type: "ghost_snapshot" }),
      ),
    );
    expect(messages).toMatchObject([
      { role: "custom", display: false },
      { role: "user", content: [{ text: "list" }] },
      {
        role: "assistant",
        provider: "openai",
        model: "gpt-5-codex",
        content: [{ thinking: "ls" }, { id: "c1", name: "shell", arguments: { command: ["ls"] } }],
        usage: { input: 60, cacheRead: 40, output: 12, reasoning: 2 },
      },
      { role: "toolResult", toolCallId: "c1", content: [{ text: "a.txt" }], isError: true },
      { role: "assistant", stopReason: "stop", usage: { input: 90, output: 3 } },
      {
        role: "assistant",
        stopReason: "toolUse",
        content: [{ arguments: { input: "*** Begin" } }],
      },
      { role: "toolResult", toolCallId: "c2", isError: true },
    ]);
    expect(report.origin).toEqual({ sessionId: "019a", version: "0.58.0", cwd: "/home/ada/app" });
    expect([...report.leftOut.keys()]).toEqual([
      "messages of the role developer",
      "items of type ghost_snapshot",
    ]);
  });

  it("are read in their oldest form, too", async () => {
    const { messages, report } = await imported(
      lines(
        { id: "5973", ...at(0), instructions: null },
        { record_type: "state" },
        { type: "message", role: "user", content: [{ type: "input_text", text: "hi" }] },
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "hello" }] },
      ),
    );
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(report.agent).toBe("codex");
  });
});

describe("a file that is not an intact transcript", () => {
  const refused = (content: string | Buffer, from?: ImportRequest["from"]) =>
    imported(content, from).then(
      () => "",
      (error: SessionError) => `${error.code}: ${error.message}`,
    );

  it("is refused with a sentence that explains it", async () => {
    expect(await refused("")).toContain("no line with a JSON object");
    expect(await refused("\0\0\0\n{")).toContain("no line with a JSON object");
    expect(await refused(lines({ hello: 1 }))).toMatch(/claude-code or codex; --from says/);
    expect(await refused(lines({ hello: 1 }), "codex")).toContain("it has no messages");
    expect(await refused(lines({ type: "session_meta", payload: {} }))).toContain("no messages");
    const reading = (path: string) => importTranscript({ path, cwd: "/" });
    await expect(reading(folder)).rejects.toMatchObject({ code: "transcript_invalid" });
    await expect(reading(join(folder, "gone"))).rejects.toMatchObject({
      code: "transcript_invalid",
    });
    const pipe = join(folder, "pipe");
    execFileSync("mkfifo", [pipe]);
    await expect(reading(pipe)).rejects.toThrow("not a regular file");
  });

  it("is imported if only some lines are damaged, which are left out and counted", async () => {
    const deep = `{"type":"user","uuid":"d","sessionId":"s","message":${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}}\n`;
    const cut = lines(...claudeSession).slice(0, -20);
    const { report, messages } = await imported(`not json\n${deep}${"\0".repeat(99)}\n${cut}`);
    expect(report.leftOut.get("damaged or too long lines")).toBe(4);
    expect(messages.at(-1)).toMatchObject({ content: [{ text: "count them" }, {}] });
  });

  it("neither crashes the import nor breaks the order of calls and results, whatever its lines are", async () => {
    const ref = fc.constantFrom("a", "b", "c", "__proto__", null, 7);
    const value = fc.oneof(ref, fc.string({ unit: "binary" }), fc.jsonValue({ maxDepth: 3 }));
    const block = fc.oneof(
      fc.record({ type: fc.constantFrom("text", "input_text"), text: value }),
      fc.record({ type: fc.constantFrom("tool_use"), id: ref, name: value, input: value }),
      fc.record({ type: fc.constant("tool_result"), tool_use_id: ref, content: value }),
      fc.record({ type: fc.constant("image"), source: value }),
    );
    const content = fc.oneof(value, fc.array(block, { maxLength: 3 }));
    const claudeLine = fc.record(
      {
        type: fc.constantFrom("user", "assistant", "system", "summary"),
        uuid: ref,
        parentUuid: ref,
        sessionId: fc.constant("s"),
        timestamp: fc.oneof(
          value,
          fc.constant("2026-01-01T00:00:00Z"),
          fc.constant("+275760-09-13T00:00:00Z"),
        ),
        isCompactSummary: fc.boolean(),
        subtype: fc.constantFrom("compact_boundary", "x"),
        message: fc.oneof(
          value,
          fc.record({ id: ref, model: value, content, usage: value, stop_reason: value }),
        ),
      },
      { requiredKeys: ["type", "sessionId", "message"] },
    );
    const codexLine = fc.record({
      type: fc.constantFrom("response_item", "event_msg", "compacted", "session_meta"),
      payload: fc.record({
        type: fc.constantFrom(
          "message",
          "function_call",
          "function_call_output",
          "reasoning",
          "token_count",
        ),
        role: fc.constantFrom("user", "assistant"),
        content,
        call_id: ref,
        name: value,
        arguments: value,
        output: content,
        summary: content,
        info: value,
      }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.array(claudeLine, { maxLength: 20 }), fc.array(codexLine, { maxLength: 20 })),
        async (objects) => {
          const done = await imported(lines(...objects)).catch((error: unknown) => error);
          if (done instanceof SessionError) {
            expect(done.code).toBe("transcript_invalid");
            return;
          }
          const { entries, messages } = done as Awaited<ReturnType<typeof imported>>;
          expect(new Set(entries.map(({ id }: Message) => id)).size).toBe(entries.length);
          let open = new Set<unknown>();
          for (const message of messages) {
            if (message.role === "toolResult") expect(open.delete(message.toolCallId)).toBe(true);
            else expect([...open]).toEqual([]);
            if (message.role !== "assistant") continue;
            const blocks = message.content as { type: string; id?: string }[];
            open = new Set(blocks.flatMap(({ type, id }) => (type === "toolCall" ? [id] : [])));
          }
        },
      ),
      { numRuns: sliceSize(150, 2000) },
    );
  });
});

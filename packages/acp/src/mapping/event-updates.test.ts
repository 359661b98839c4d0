import type { ClientCapabilities } from "@agentclientprotocol/sdk";
import type { SessionEntry, SessionEvent } from "@tau-agent/coding-agent";
import { expect, it } from "vitest";
import { EventUpdates } from "./event-updates.ts";
import { changedPlace } from "./file-diff.ts";
import { replay } from "./replay.ts";
import { ToolCalls } from "./tool-calls.ts";

const all: ClientCapabilities = { session: { notices: {}, compaction: {} } };
const updates = (events: readonly object[], client: ClientCapabilities | undefined) => {
  const mapping = new EventUpdates({ cwd: () => "/w", client, newId: () => "m" });
  return events.flatMap((event) => mapping.map(event as SessionEvent));
};

const troubles = [
  { type: "auto_compaction_start", reason: "threshold" },
  { type: "auto_compaction_end", result: { summary: "short" }, aborted: false },
  { type: "compaction_start", reason: "manual" },
  { type: "compaction_end", result: null, aborted: true },
  { type: "compaction_start", reason: "manual" },
  { type: "compaction_end", result: null, aborted: false, errorMessage: "too long" },
  { type: "auto_retry_start", attempt: 1, maxAttempts: 3, delayMs: 2000, errorMessage: "busy" },
  { type: "diagnostic", severity: "warning", message: "odd" },
  { type: "error", error: "disk full" },
  { type: "mcp_server_status", server: "s", status: "failed", error: "gone" },
  { type: "mcp_server_status", server: "s", status: "connected" },
  { type: "error", error: " " },
];

it("sends compactions and notices to clients that show them", () => {
  expect(updates(troubles, all)).toEqual([
    { sessionUpdate: "compaction_update", compactionId: "compaction-1", status: "in_progress" },
    {
      sessionUpdate: "compaction_update",
      compactionId: "compaction-1",
      status: "completed",
      summary: [{ type: "text", text: "short" }],
    },
    { sessionUpdate: "compaction_update", compactionId: "compaction-2", status: "in_progress" },
    { sessionUpdate: "compaction_update", compactionId: "compaction-2", status: "cancelled" },
    { sessionUpdate: "compaction_update", compactionId: "compaction-3", status: "in_progress" },
    {
      sessionUpdate: "compaction_update",
      compactionId: "compaction-3",
      status: "failed",
      error: "too long",
    },
    { sessionUpdate: "notice", severity: "warning", title: "Attempt 1 of 3 in 2 s: busy" },
    { sessionUpdate: "notice", severity: "warning", title: "odd" },
    { sessionUpdate: "notice", severity: "error", title: "disk full" },
    { sessionUpdate: "notice", severity: "warning", title: "MCP server s: gone" },
  ]);
});

it.each([undefined, {}, { session: {} }, { session: { notices: null } }])(
  "sends neither to a client that does not announce support (%j)",
  (client) => {
    expect(updates(troubles, client)).toEqual([]);
  },
);

it("marks the calls of a broken-off reply as failed", () => {
  const toolCall = { id: "1", name: "bash", arguments: { command: "x" } };
  const streamed = {
    type: "message_update",
    assistantMessageEvent: { type: "toolcall_end", toolCall },
  };
  const broken = {
    type: "message_end",
    message: { role: "assistant", stopReason: "error", content: [] },
  };
  expect(updates([streamed, broken, broken], undefined)).toMatchObject([
    { sessionUpdate: "tool_call", toolCallId: "1", status: "pending" },
    { sessionUpdate: "tool_call_update", toolCallId: "1", status: "failed" },
  ]);
});

it("replays the whole conversation, but not failed attempts", () => {
  const reply = (content: object[], stopReason = "stop") => ({
    role: "assistant",
    content,
    stopReason,
  });
  const text = (value: string) => ({ type: "text", text: value });
  const messages = [
    { role: "user", content: [text("look"), { type: "image", data: "AA", mimeType: "image/png" }] },
    reply([text("half an ans")], "error"),
    reply([
      { type: "thinking", thinking: "hm" },
      {
        type: "toolCall",
        id: "1",
        name: "edit",
        arguments: { path: "a", oldText: "x", newText: "y" },
      },
    ]),
    {
      role: "toolResult",
      toolCallId: "1",
      toolName: "edit",
      content: [text("ok")],
      isError: false,
    },
    reply([{ type: "toolCall", id: "1", name: "read", arguments: { path: "b" } }]),
    { role: "bashExecution", command: "false", output: "no", exitCode: 1, cancelled: false },
    { role: "custom", customType: "x", content: "from an extension", display: true },
    { role: "custom", customType: "x", content: "hidden", display: false },
    reply([text("cut sho")], "aborted"),
  ];
  const entries = messages.map((message, at) => ({ type: "message", id: String(at), message }));
  const compaction = { type: "compaction", id: "c", summary: "short" };
  const calls = new ToolCalls(() => "/w");
  const seen = [
    ...replay([...entries, compaction] as unknown as SessionEntry[], {
      calls,
      cwd: "/w",
      client: all,
    }),
  ];
  expect(seen.map((one) => one.sessionUpdate)).toEqual([
    "user_message_chunk",
    "user_message_chunk",
    "agent_thought_chunk",
    "tool_call",
    "tool_call_update",
    "tool_call",
    "tool_call_update",
    "tool_call",
    "tool_call_update",
    "agent_message_chunk",
    "agent_message_chunk",
    "compaction_update",
  ]);
  expect(seen[4]).toMatchObject({
    toolCallId: "1",
    status: "completed",
    content: [{ type: "diff", path: "/w/a", oldText: "x", newText: "y" }],
  });
  expect(seen.slice(5, 9)).toMatchObject([
    { toolCallId: "1#2", title: "Read b" },
    { toolCallId: "1#2", status: "failed" },
    { title: "false" },
    { status: "failed" },
  ]);
});

it("matches each result to its own call when an id is reused", () => {
  const call = { type: "toolCall", id: "1", name: "x", arguments: {} };
  const entries = ["first", "second"].flatMap((text) => [
    { role: "assistant", content: [call], stopReason: "toolUse" },
    {
      role: "toolResult",
      toolCallId: "1",
      toolName: "x",
      content: [{ type: "text", text }],
      isError: false,
    },
  ]);
  const calls = new ToolCalls(() => "/w");
  const all = entries.map((message) => ({ type: "message", message })) as unknown as SessionEntry[];
  const outputs = [...replay(all, { calls, cwd: "/w", client: undefined })].flatMap((one) =>
    "rawOutput" in one ? [one.rawOutput] : [],
  );
  expect(outputs).toEqual([{ text: "first" }, { text: "second" }]);
});

it("locates a change at its first line", () => {
  const place = (before: string | undefined, after: string) =>
    changedPlace({ file: "/a", before, after }).line;
  expect(place(undefined, "a\nb\n")).toBe(1);
  expect(place("a\nb\nc\n", "a\nb\nX\n")).toBe(3);
  expect(place("a\n", "a\nb\n")).toBe(2);
  expect(place("same", "same")).toBe(1);
});

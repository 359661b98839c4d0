import type { AssistantMessage } from "@tau-agent/rpc-protocol/messages";
import { describe, expect, it } from "vitest";
import { recordFrames } from "../../../../apps/cli/test/recording/record-host.ts";
import { decodeHostLine } from "./host-frame.ts";
import { MessageRebuilder, type MessageUpdate } from "./rebuild-message.ts";

const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
const usage = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, cost };
const shell: AssistantMessage = {
  role: "assistant",
  content: [],
  api: "a",
  provider: "p",
  model: "m",
  usage: { ...usage, output: 0 },
  stopReason: "stop",
  timestamp: 1,
};

function rebuild(steps: readonly object[], rebuilder = new MessageRebuilder()): MessageUpdate[] {
  rebuilder.start(shell);
  const updates: MessageUpdate[] = [];
  for (const step of steps) {
    const frame = { type: "message_update", usage, assistantMessageEvent: step };
    const line = decodeHostLine(JSON.stringify(frame));
    if (line.kind !== "delta") expect.fail(`decodes as ${line.kind}`);
    const update = rebuilder.apply(line.update);
    if (update) updates.push(update);
  }
  return updates;
}

const replySteps = [
  { type: "start" },
  { type: "thinking_start", contentIndex: 0 },
  { type: "thinking_delta", contentIndex: 0, delta: "Hm" },
  { type: "thinking_end", contentIndex: 0, content: "Hm" },
  { type: "text_start", contentIndex: 1 },
  { type: "text_delta", contentIndex: 1, delta: "Let me " },
  { type: "text_delta", contentIndex: 1, delta: "see" },
  { type: "text_end", contentIndex: 1, content: "Let me see" },
  { type: "toolcall_start", contentIndex: 2, id: "t1", toolName: "bash" },
  { type: "toolcall_delta", contentIndex: 2, delta: '{"comm' },
  { type: "toolcall_delta", contentIndex: 2, delta: 'and":"l' },
  { type: "toolcall_delta", contentIndex: 2, delta: 's"}' },
  {
    type: "toolcall_end",
    contentIndex: 2,
    toolCall: { type: "toolCall", id: "t1", name: "bash", arguments: { command: "ls" } },
  },
  { type: "done", reason: "toolUse" },
];

describe("MessageRebuilder", () => {
  it("gives every step the message that results from it", () => {
    const updates = rebuild(replySteps);
    const frame = { type: "message_update", usage };
    // In this form, Tau sends neither `start` nor `done`, but other hosts may.
    const sent = replySteps.filter((step) => "contentIndex" in step);
    recordFrames(sent.map((assistantMessageEvent) => ({ ...frame, assistantMessageEvent })));
    expect(updates).toHaveLength(replySteps.length);
    const last = updates.at(-1)?.message;
    expect(last).toEqual({
      ...shell,
      usage,
      stopReason: "toolUse",
      content: [
        { type: "thinking", thinking: "Hm" },
        { type: "text", text: "Let me see" },
        { type: "toolCall", id: "t1", name: "bash", arguments: { command: "ls" } },
      ],
    });
    expect(updates[5]?.message).toMatchObject({ content: [{}, { type: "text", text: "Let me " }] });
    expect(updates[6]?.assistantMessageEvent).toMatchObject({
      type: "text_delta",
      delta: "see",
      partial: { content: [{}, { text: "Let me see" }] },
    });
  });

  it("shows tool arguments while they stream", () => {
    const seen: unknown[] = [];
    const rebuilder = new MessageRebuilder();
    rebuilder.start(shell);
    for (const step of replySteps.slice(8, 12)) {
      const frame = { type: "message_update", assistantMessageEvent: { ...step, contentIndex: 0 } };
      const line = decodeHostLine(JSON.stringify(frame));
      const update = line.kind === "delta" ? rebuilder.apply(line.update) : undefined;
      const block = update?.message.role === "assistant" ? update.message.content[0] : undefined;
      seen.push(block?.type === "toolCall" ? { ...block.arguments } : undefined);
    }
    expect(seen).toEqual([{}, {}, { command: "l" }, { command: "ls" }]);
  });

  it("does not change the texts of earlier updates", () => {
    const updates = rebuild(replySteps);
    const texts = updates.slice(4, 7).map(({ message }) => {
      const block = message.role === "assistant" ? message.content[1] : undefined;
      return block?.type === "text" ? block.text : undefined;
    });
    expect(texts).toEqual(["", "Let me ", "Let me see"]);
  });

  it("ends with the message of an error event, or with its reason", () => {
    const [aborted] = rebuild([{ type: "error", reason: "aborted" }]);
    expect(aborted?.message).toMatchObject({ stopReason: "aborted" });
    const error = { ...shell, stopReason: "error", errorMessage: "boom" };
    const [failed] = rebuild([{ type: "error", reason: "error", error }]);
    expect(failed?.assistantMessageEvent).toEqual({ type: "error", reason: "error", error });
  });

  it("starts a new reply even if the start of its message was filtered out", () => {
    const rebuilder = new MessageRebuilder();
    rebuild(replySteps, rebuilder);
    const steps = [
      { type: "text_start", contentIndex: 0 },
      { type: "text_delta", contentIndex: 0, delta: "Next" },
    ];
    const apply = (step: object) => {
      const line = decodeHostLine(
        JSON.stringify({ type: "message_update", assistantMessageEvent: step }),
      );
      return line.kind === "delta" ? rebuilder.apply(line.update)?.message : undefined;
    };
    expect(steps.map(apply)).toMatchObject([
      { content: [{ type: "text", text: "" }] },
      { content: [{ type: "text", text: "Next" }] },
    ]);
    const joined = apply({ type: "text_delta", contentIndex: 2, delta: "in the middle" });
    expect(joined).toMatchObject({ content: [{}, { type: "text" }, { text: "in the middle" }] });
  });

  it("ignores steps at impossible positions", () => {
    const at = [-1, 0.5, 1e9].map((contentIndex) => ({ type: "text_start", contentIndex }));
    expect(rebuild(at).map(({ message }) => message)).toEqual([]);
  });

  it("ignores unknown steps", () => {
    expect(rebuild([{ type: "hologram_delta", contentIndex: 0, delta: "x" }])).toEqual([]);
  });

  it("costs the same per delta in a long reply as in a short one", () => {
    const cpuPerDelta = (count: number) => {
      const deltas = Array.from({ length: count }, () => ({
        type: "text_delta",
        contentIndex: 0,
        delta: "twelve chars",
      }));
      const before = process.cpuUsage();
      rebuild(deltas);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / count;
    };
    cpuPerDelta(20_000);
    // If the cost grew with the text, this would be twenty times as high.
    expect(cpuPerDelta(80_000)).toBeLessThan(5 * cpuPerDelta(4_000));
  });
});

import { describe, expect, it } from "vitest";
import { recordFrames } from "../../../../apps/cli/test/recording/record-host.ts";
import type { HostFrame } from "../vocabulary/host-frame.ts";
import type { FrameContext } from "./dialect.ts";
import { loadDialect, type ProtocolName, protocolNames } from "./index.ts";

async function encode(
  name: ProtocolName,
  frame: unknown,
  context: FrameContext = { isInitialized: true },
): Promise<unknown> {
  const frames = (await loadDialect(name)).encode(frame as HostFrame, context);
  recordFrames(frames, name);
  return frames;
}

const response = { id: "a", type: "response", command: "prompt", success: true };
const refusal = { ...response, success: false, error: "No.", code: "busy" };
const image = { type: "image", data: "AA==", mimeType: "image/png" };
const source = {
  type: "image",
  source: { type: "base64", mediaType: "image/png", data: "AA==" },
};
const toolEnd = { type: "tool_execution_end", toolCallId: "c", toolName: "read", isError: false };
const toolResult = {
  role: "toolResult",
  toolCallId: "c",
  toolName: "read",
  isError: false,
  timestamp: 1,
};
const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
const reply = {
  role: "assistant",
  content: [],
  api: "a",
  provider: "p",
  model: "m",
  usage: { ...cost, cost },
  stopReason: "toolUse",
  timestamp: 1,
};
const compacted = { summary: "S", firstKeptEntryId: "e", tokensBefore: 9 };

describe("dialects", () => {
  it.each(protocolNames)("are found by their name: %s", async (name) => {
    expect((await loadDialect(name)).name).toBe(name);
  });

  it.each(protocolNames)("do not modify the frame they are given: %s", async (name) => {
    const frames = [
      refusal,
      { type: "agent_end", messages: [{ role: "user", content: [image], timestamp: 1 }] },
      { ...toolEnd, result: { content: [image] }, isError: true },
      {
        type: "auto_compaction_end",
        reason: "threshold",
        result: compacted,
        aborted: false,
        willRetry: false,
      },
    ];
    for (const frame of frames) {
      const before = structuredClone(frame);
      await encode(name, frame);
      expect(frame).toEqual(before);
    }
  });
});

describe("before initialize", () => {
  const before = { isInitialized: false };
  const { code: _code, ...refused } = refusal;
  const answer = { ...response, data: { disposition: "started" } };
  const end = { type: "agent_end", messages: [] };
  const ended = { type: "auto_compaction_end", result: null, aborted: true, willRetry: false };

  it.each(["pi", "pisces", "oh-my-pi", "oh-my-pi-18"] as const)(
    "%s sends only documented members",
    async (name) => {
      expect(await encode(name, refusal, before)).toEqual([refused]);
      expect(await encode(name, answer, { ...before, addsData: true })).toEqual([response]);
      expect(await encode(name, answer, before)).toEqual([answer]);
      expect(await encode(name, { ...end, willRetry: true }, before)).toEqual([end]);
      const [first] = (await encode(name, { ...ended, reason: "threshold" }, before)) as unknown[];
      expect(first).toEqual(ended);
    },
  );

  it("pi-1 sends all members except the code of an error", async () => {
    expect(await encode("pi-1", refusal, before)).toEqual([refused]);
    expect(await encode("pi-1", answer, { ...before, addsData: true })).toEqual([answer]);
    const retried = { ...end, willRetry: true };
    expect(await encode("pi-1", retried, before)).toEqual([retried]);
  });

  it("co-mono puts the id and name of a tool call only into its partial", async () => {
    const step = { type: "toolcall_start", contentIndex: 0, partial: reply };
    const update = (event: object) => ({
      type: "message_update",
      message: reply,
      assistantMessageEvent: event,
    });
    const told = update({ ...step, id: "c", toolName: "read" });
    expect(await encode("co-mono", told, before)).toEqual([update(step)]);
    expect(await encode("co-mono", told)).toEqual([told]);
  });

  it("co-mono answers an unreadable line with an error event", async () => {
    const unread = { ...refusal, command: "parse", code: "parse" };
    expect(await encode("co-mono", unread, before)).toEqual([{ type: "error", error: "No." }]);
  });
});

describe("pi", () => {
  const before = { isInitialized: false };
  const start = { type: "auto_compaction_start", reason: "threshold" };
  const outcome = { result: compacted, aborted: false, willRetry: false };
  const end = { type: "auto_compaction_end", reason: "threshold", ...outcome };

  it("names an automatic compaction as the clients of both generations do", async () => {
    expect(await encode("pi", start, before)).toEqual([
      start,
      { ...start, type: "compaction_start" },
    ]);
    expect(await encode("pi", end, before)).toEqual([
      { type: "auto_compaction_end", ...outcome },
      { ...end, type: "compaction_end" },
    ]);
  });

  it("names it once after initialize", async () => {
    expect(await encode("pi", start)).toEqual([start]);
    expect(await encode("pi", end)).toEqual([end]);
  });
});

describe("oh-my-pi-18", () => {
  const result = { type: "prompt_result", id: "a" };

  it("reports for each prompt whether the agent was invoked and the session has settled", async () => {
    expect(await encode("oh-my-pi-18", { ...result, status: "completed" })).toEqual([
      { ...result, agentInvoked: true, status: "completed", sessionSettled: true },
    ]);
    expect(await encode("oh-my-pi-18", { ...result, status: "handled" })).toEqual([
      { ...result, agentInvoked: false, status: "completed", sessionSettled: true },
    ]);
    const context = { isInitialized: false, isSettled: false };
    const failure = { status: "error", error: "No.", code: "auth" };
    expect(await encode("oh-my-pi-18", { ...result, ...failure }, context)).toEqual([
      {
        ...result,
        agentInvoked: true,
        status: "error",
        error: { message: "No.", retryable: false },
        sessionSettled: false,
      },
    ]);
  });

  it("reports that the session has settled in an event and in get_state", async () => {
    const settled = { type: "agent_settled", aborted: false };
    expect(await encode("oh-my-pi-18", settled)).toEqual([settled, { type: "session_settled" }]);
    const data = { isStreaming: true };
    const state = { type: "response", command: "get_state", success: true, data };
    const frames = (await loadDialect("oh-my-pi-18")).encode(state as HostFrame, {
      isInitialized: false,
      isSettled: false,
    });
    expect(frames).toEqual([{ ...state, data: { ...data, isSettled: false } }]);
  });
});

describe("pi-1", () => {
  const end = { aborted: false, willRetry: false };

  it("uses one pair of events for every compaction", async () => {
    expect(await encode("pi-1", { type: "auto_compaction_start", reason: "overflow" })).toEqual([
      { type: "compaction_start", reason: "overflow" },
    ]);
    const automatic = {
      type: "auto_compaction_end",
      reason: "threshold",
      result: compacted,
      ...end,
    };
    expect(await encode("pi-1", automatic)).toEqual([{ ...automatic, type: "compaction_end" }]);
  });

  it("passes on where a command comes from", async () => {
    const sourceInfo = {
      path: "/p/greet.md",
      source: "auto",
      scope: "project",
      origin: "top-level",
    };
    const greet = { name: "greet", source: "prompt", location: "project", sourceInfo };
    const answer = { type: "response", command: "get_commands", success: true };
    const whole = { ...answer, data: { commands: [greet] } };
    expect(await encode("pi-1", whole)).toEqual([whole]);
  });

  it("omits the result of a compaction without one", async () => {
    const failed = { type: "compaction_end", reason: "manual", errorMessage: "No.", ...end };
    expect(await encode("pi-1", { ...failed, result: null })).toEqual([failed]);
  });
});

describe("pisces", () => {
  it("keeps the id of a failed command", async () => {
    expect(await encode("pisces", refusal)).toEqual([refusal]);
  });

  it("answers errors in the loop as parse, without an id", async () => {
    const { id: _, ...anonymous } = { ...refusal, code: "internal" };
    expect(await encode("pisces", { id: "a", ...anonymous })).toEqual([
      { ...anonymous, command: "parse" },
    ]);
  });
});

describe("oh-my-pi", () => {
  it("gives images a source in all messages", async () => {
    const user = (block: unknown) => ({ role: "user", content: [block], timestamp: 1 });
    const frames = (block: unknown) => [
      { type: "message_end", message: user(block) },
      { type: "agent_end", messages: [user(block)] },
      { type: "turn_end", message: reply, toolResults: [{ ...toolResult, content: [block] }] },
      { ...toolEnd, result: { content: [block] } },
      { ...response, command: "get_messages", data: { messages: [user(block)] } },
    ];
    for (const [index, frame] of frames(image).entries()) {
      expect(await encode("oh-my-pi", frame)).toEqual([frames(source)[index]]);
    }
  });

  it("omits what its document does not contain", async () => {
    for (const type of ["agent_settled", "queue_update", "extension_ui_request", "error"]) {
      expect(await encode("oh-my-pi", { type })).toEqual([]);
    }
  });
});

describe("co-mono", () => {
  it("sends nothing for a successful command, and an event for a failure", async () => {
    expect(await encode("co-mono", response)).toEqual([]);
    expect(await encode("co-mono", refusal)).toEqual([{ type: "error", error: "No." }]);
  });

  it("reports a compaction once, and the failure of an automatic one", async () => {
    const ended = { aborted: false, willRetry: false };
    const failed = { ...ended, result: null, errorMessage: "Too long" };
    const automatic = { type: "auto_compaction_end", ...ended };
    const { firstKeptEntryId: _, ...shown } = compacted;
    expect(await encode("co-mono", { ...automatic, result: compacted })).toEqual([
      { type: "compaction", ...shown, auto: true },
    ]);
    expect(await encode("co-mono", { ...automatic, ...failed })).toEqual([
      { type: "error", error: "Too long" },
    ]);
    expect(
      await encode("co-mono", { type: "compaction_end", reason: "manual", ...failed }),
    ).toEqual([]);
  });
});

describe("pi-rust", () => {
  it("sends only the text of a delta, and nothing for the other steps of a reply", async () => {
    const update = (step: object) => ({ type: "message_update", assistantMessageEvent: step });
    expect(await encode("pi-rust", update({ type: "text_delta", delta: "Hi" }))).toEqual([
      { type: "text_delta", data: "Hi" },
    ]);
    expect(await encode("pi-rust", update({ type: "text_end", content: "Hi" }))).toEqual([]);
  });
});

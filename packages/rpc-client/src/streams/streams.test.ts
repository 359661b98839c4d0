import { verifyEvents } from "@ag-ui/client";
import type { BaseEvent } from "@ag-ui/core";
import { EventSchemas } from "@ag-ui/core/schemas";
import { readUIMessageStream, type UIMessage, type UIMessageChunk, uiMessageChunkSchema } from "ai";
import fc from "fast-check";
import { from, lastValueFrom, toArray } from "rxjs";
import { describe, expect, it } from "vitest";
import { asReplayed, randomRuns } from "./__fixtures__/random-runs.ts";
import { agUiEncoder, toAgUi } from "./ag-ui.ts";
import type { StreamEvent } from "./run-part.ts";
import { toUiMessageStream, type UiMessageChunk, uiMessageEncoder } from "./ui-message-stream.ts";

async function* each<Value>(values: readonly Value[]) {
  yield* values;
}

async function collect<Value>(values: AsyncIterable<Value>): Promise<Value[]> {
  const all: Value[] = [];
  for await (const value of values) all.push(value);
  return all;
}

/** The messages that an AI SDK application ends up with. */
async function uiMessages(chunks: readonly UiMessageChunk[]): Promise<UIMessage[]> {
  const messages: UIMessage[] = [];
  for (let from = 0; from < chunks.length; ) {
    const end = chunks.findIndex(({ type }, index) => index >= from && type === "finish");
    const run = chunks.slice(from, end + 1);
    const stream = new ReadableStream<UIMessageChunk>({
      start: (controller) => {
        for (const chunk of run) controller.enqueue(chunk as UIMessageChunk);
        controller.close();
      },
    });
    let last: UIMessage | undefined;
    for await (const message of readUIMessageStream({ stream })) last = message;
    if (last !== undefined) messages.push(last);
    from = end + 1;
  }
  return messages;
}

async function verified(events: readonly object[]): Promise<unknown> {
  const verify = verifyEvents(false);
  return lastValueFrom(from(events as BaseEvent[]).pipe(verify, toArray()));
}

const schema = uiMessageChunkSchema();

describe("the UI message stream", () => {
  it.each([
    ["allow", "tool-output-available"],
    ["deny", "tool-output-denied"],
  ])(
    "ends the call of a subagent that was asked about with the answer: %s",
    async (outcome, type) => {
      const params = { toolName: "bash", input: { command: "ls" }, reason: "ask" };
      const about = { agentId: "a", toolCallId: "call_0" };
      const request = {
        type: "host_request",
        id: "r",
        promptId: "p",
        ...about,
        method: "tool_approval",
        params,
      };
      const [first, second] = [uiMessageEncoder(), uiMessageEncoder()];
      const begin = { type: "agent_start", promptId: "p" };
      const chunks = [...[begin, request].flatMap((event) => first.push(event)), ...first.end()];
      second.takeUp([request as never]);
      for (const event of [
        { type: "host_request_resolved", id: "r", by: "client", outcome },
        { type: "agent_settled" },
        { type: "prompt_result", promptId: "p", status: "completed" },
      ]) {
        chunks.push(...second.push(event));
      }
      const ends = chunks.filter((chunk) => chunk.type.startsWith("tool-output"));
      expect(ends).toMatchObject([{ type, toolCallId: "r" }]);
      const starts = chunks.filter((chunk) => chunk.type === "start");
      expect(starts).toEqual([1, 2].map(() => ({ type: "start", messageId: "p" })));
    },
  );

  it("is valid, and the same for live and replayed events", async () => {
    await fc.assert(
      fc.asyncProperty(randomRuns, async (events) => {
        const chunks = await collect(toUiMessageStream(each(events)));
        for (const chunk of chunks) {
          const result = await schema.validate?.(chunk);
          expect(result, JSON.stringify(chunk)).toMatchObject({ success: true });
        }
        const replayed = await collect(toUiMessageStream(each(asReplayed(events))));
        const messages = await uiMessages(chunks);
        expect(await uiMessages(replayed)).toEqual(messages);
        const runs = events.filter(({ type }) => type === "agent_start");
        expect(messages).toHaveLength(runs.length);
      }),
      { numRuns: 60 },
    );
  });

  it("is well-formed wherever the events begin", async () => {
    await fc.assert(
      fc.asyncProperty(randomRuns, fc.nat(), async (events, at) => {
        const rest = events.slice(at % events.length);
        await uiMessages(await collect(toUiMessageStream(each(rest))));
        await verified(await collect(toAgUi(each(rest))));
      }),
      { numRuns: 60 },
    );
  });
});

describe("the AG-UI events", () => {
  it("fit the schemas and are accepted by the client", async () => {
    await fc.assert(
      fc.asyncProperty(randomRuns, async (events) => {
        for (const source of [events, asReplayed(events)]) {
          const sent = await collect(toAgUi(each(source)));
          for (const event of sent) {
            expect(EventSchemas.safeParse(event), JSON.stringify(event)).toMatchObject({
              success: true,
            });
          }
          for (const run of runsOf(sent)) await verified(run);
        }
      }),
      { numRuns: 60 },
    );
  });
});

function runsOf(events: readonly { readonly type: string }[]): { type: string }[][] {
  const runs: { type: string }[][] = [];
  for (const event of events) {
    if (event.type === "RUN_STARTED") runs.push([]);
    runs.at(-1)?.push(event);
  }
  return runs;
}

const asked: StreamEvent[] = [
  { type: "agent_start", promptId: "p" },
  { type: "turn_start" },
  { type: "tool_execution_start", toolCallId: "c", toolName: "bash", args: { command: "ls" } },
  {
    type: "host_request",
    id: "q",
    method: "tool_approval",
    toolCallId: "c",
    params: { toolName: "bash", input: { command: "ls" }, title: "May it?", reason: "asks" },
  },
] as StreamEvent[];
const answered: StreamEvent[] = [
  { type: "host_request_resolved", id: "q", by: "client", outcome: "deny" },
  {
    type: "tool_execution_end",
    toolCallId: "c",
    toolName: "bash",
    result: { content: [{ type: "text", text: "denied" }], details: { denied: {} } },
    isError: true,
  },
  { type: "turn_end" },
  { type: "agent_settled", aborted: false },
  { type: "prompt_result", status: "completed" },
] as StreamEvent[];

describe("a run that waits for an answer", () => {
  it("pauses, and continues with the same message", () => {
    const encoder = uiMessageEncoder();
    const before = [...asked.flatMap((event) => encoder.push(event)), ...encoder.end()];
    expect(before.map(({ type }) => type)).toEqual([
      "start",
      "start-step",
      "tool-input-start",
      "tool-input-delta",
      "tool-input-available",
      "tool-approval-request",
      "finish-step",
      "finish",
    ]);
    // The message keeps its id, so that a page can continue it.
    const promptId = "p";
    const after = answered.flatMap((event) => encoder.push({ ...event, promptId } as StreamEvent));
    expect(after).toMatchObject([
      { type: "start", messageId: "p" },
      { type: "tool-output-denied", toolCallId: "c" },
      { type: "finish", finishReason: "stop" },
    ]);
  });

  it("is an interrupt in AG-UI", async () => {
    const encoder = agUiEncoder({ threadId: "t", runId: "r" });
    const events = [...asked.flatMap((event) => encoder.push(event)), ...encoder.end()];
    expect(events.at(-1)).toMatchObject({
      type: "RUN_FINISHED",
      threadId: "t",
      runId: "r",
      outcome: {
        type: "interrupt",
        interrupts: [{ id: "q", reason: "tool_approval", message: "May it?", toolCallId: "c" }],
      },
    });
    await verified(events);
    expect(answered.flatMap((event) => encoder.push(event)).map(({ type }) => type)).toEqual([
      "RUN_STARTED",
      "TOOL_CALL_RESULT",
      "RUN_FINISHED",
    ]);
  });
});

import {
  type LoopbackApi,
  loopbackApis,
  startLoopbackServer,
  toolCall,
  turn,
} from "@tau-agent/ai/testing";
import { describe, expect, it } from "vitest";
import { memoryHost } from "./support/hosts.ts";

const scenario = () => [
  turn(["Let me look.", toolCall("read", { path: "notes.txt" })]),
  turn("Two lines."),
];

function modelsFile(api: LoopbackApi, baseUrl: string): string {
  const provider = { baseUrl, api, apiKey: "sk-loopback-secret", models: [{ id: "looped" }] };
  return JSON.stringify({ providers: { local: provider } });
}

async function toolTurn(api: LoopbackApi) {
  await using server = await startLoopbackServer({ scenario: scenario() });
  const files = { "agent/models.json": modelsFile(api, server.urls[api]) };
  const setup = { title: api, requirements: [], files, arguments: ["--model", "local/looped"] };
  await using host = await memoryHost(setup);
  host.send('{"id":"1","type":"prompt","message":"go"}');
  const frames: Record<string, unknown>[] = [];
  for (;;) {
    const frame = await host.next();
    if (frame === undefined) throw new RangeError(`no end: ${JSON.stringify(frames.at(-1))}`);
    frames.push(frame);
    if (frame.type === "agent_end") return { frames, requests: [...server.requests] };
  }
}

/** The type, role and inner type of each frame; consecutive deltas of one block count once. */
function outline(frames: readonly Record<string, unknown>[]): string[] {
  const names = frames.map((frame) => {
    const { message, assistantMessageEvent: step } = frame as {
      message?: { role?: string };
      assistantMessageEvent?: { type?: string };
    };
    return [frame.type, step?.type ?? message?.role].filter(Boolean).join(" ");
  });
  return names.filter((name, index) => name !== names[index - 1]);
}

const isStart = (step: unknown): boolean =>
  typeof step === "object" && step !== null && "type" in step && step.type === "toolcall_start";

describe("a full tool turn", () => {
  it.each(loopbackApis)("produces the documented events in order over %s", async (api) => {
    const { frames, requests } = await toolTurn(api);
    expect(outline(frames)).toEqual([
      "response",
      "agent_start",
      "turn_start",
      "message_start user",
      "message_end user",
      "message_start assistant",
      "message_update text_start",
      "message_update text_delta",
      "message_update text_end",
      "message_update toolcall_start",
      "message_update toolcall_delta",
      "message_update toolcall_end",
      "message_end assistant",
      "tool_execution_start",
      "tool_execution_end",
      "message_start toolResult",
      "message_end toolResult",
      "turn_end assistant",
      "turn_start",
      "message_start assistant",
      "message_update text_start",
      "message_update text_delta",
      "message_update text_end",
      "message_end assistant",
      "turn_end assistant",
      "agent_end",
    ]);
    const end = frames.at(-1)?.messages as { role: string; usage?: { output: number } }[];
    expect(end.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult", "assistant"]);
    const called = frames.find(({ assistantMessageEvent: step }) => isStart(step));
    expect(called?.assistantMessageEvent).toEqual({
      type: "toolcall_start",
      id: expect.any(String),
      toolName: "read",
      contentIndex: 1,
      partial: called?.message,
    });
    expect(end[1]?.usage?.output).toBeGreaterThan(0);
    expect(JSON.stringify(end[2])).toContain("one");
    expect(requests).toHaveLength(2);
    expect(JSON.stringify(requests[1]?.body)).toContain("one");
    expect(JSON.stringify(frames)).not.toContain("sk-loopback-secret");
  });
});

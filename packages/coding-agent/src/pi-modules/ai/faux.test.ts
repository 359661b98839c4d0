import type { AssistantMessage, Model } from "@tau-agent/rpc-protocol/messages";
import { expect, it } from "vitest";
import { fauxFunctions } from "./faux.ts";

interface Faux {
  fauxText(text: string): object;
  fauxThinking(text: string): object;
  fauxToolCall(name: string, given: object, options?: { id: string }): object;
  fauxAssistantMessage(content: unknown, options?: object): AssistantMessage;
  createFauxCore(options: object): {
    models: Model[];
    state: { callCount: number };
    setResponses(steps: unknown[]): void;
    getPendingResponseCount(): number;
    streamSimple(
      model: Model | undefined,
      context: object,
      options?: { signal: AbortSignal },
    ): AsyncIterable<{ type: string; delta?: string }> & { result(): Promise<AssistantMessage> };
  };
}

const faux = fauxFunctions() as Faux;

it("plays scripted replies as a stream, block by block and in pieces", async () => {
  const core = faux.createFauxCore({ provider: "p", models: [{ id: "m" }], tokenSize: { max: 1 } });
  const call = faux.fauxToolCall("read", { path: "a" }, { id: "c1" });
  const content = [faux.fauxThinking("hm"), faux.fauxText("hello!"), call];
  core.setResponses([faux.fauxAssistantMessage(content, { stopReason: "toolUse" })]);
  const events: string[] = [];
  const stream = core.streamSimple(core.models[0], { messages: [] });
  for await (const { type, delta } of stream) events.push(delta ?? type);
  expect(events).toEqual([
    ...["start", "thinking_start", "hm", "thinking_end", "text_start", "hell", "o!", "text_end"],
    ...["toolcall_start", '{"pa', 'th":', '"a"}', "toolcall_end", "done"],
  ]);
  expect(await stream.result()).toMatchObject({ provider: "p", model: "m", content });
});

it("creates replies from requests, and fails once none are left", async () => {
  const core = faux.createFauxCore({});
  const reply = (context: { messages: unknown[] }) =>
    faux.fauxAssistantMessage(`${context.messages.length} messages`);
  core.setResponses([reply]);
  const ask = () => core.streamSimple(core.models[0], { messages: [1, 2] }).result();
  expect((await ask()).content).toEqual([{ type: "text", text: "2 messages" }]);
  expect(core.getPendingResponseCount()).toBe(0);
  expect(await ask()).toMatchObject({ stopReason: "error", errorMessage: "No reply is left" });
  expect(core.state.callCount).toBe(2);
});

it("stops when its signal aborts", async () => {
  const core = faux.createFauxCore({});
  core.setResponses([faux.fauxAssistantMessage("never said")]);
  const signal = AbortSignal.abort();
  const reply = await core.streamSimple(core.models[0], { messages: [] }, { signal }).result();
  expect(reply).toMatchObject({ stopReason: "aborted", content: [] });
});

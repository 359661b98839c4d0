import { createStream } from "@tau-agent/ai";
import { type Fault, startLoopbackServer, toolCall, turn } from "@tau-agent/ai/testing";
import { describe, expect, it } from "vitest";
import { createTestSession, keyless } from "../create/__fixtures__/test-session.ts";

const window = 200_000;

type Body = Record<string, unknown> & { messages: unknown[] };

/** The text of an overflow error, by wire format. */
const refusals = {
  "anthropic-messages": (input: number, output: number) =>
    `input length and \`max_tokens\` exceed context limit: ${input} + ${output} > ${window}, decrease input length or \`max_tokens\` and try again`,
  "openai-completions": (input: number, output: number) =>
    `This model's maximum context length is ${window} tokens. However, you requested ${input + output} tokens (${input} in the messages, ${output} in the completion). Please reduce the length of the messages or completion.`,
};

/** A vendor whose output limit equals its context window, and that counts tokens in its own way. */
async function converse(
  api: keyof typeof refusals,
  tokensOf: (characters: number, messages: number) => number,
  text: string,
) {
  const fault = (index: number): Fault | undefined => {
    const body = server.requests[index]?.body as Body;
    const output = Number(body.max_completion_tokens ?? body.max_tokens);
    const input = Math.ceil(tokensOf(JSON.stringify(body).length, body.messages.length));
    return input + output > window
      ? { kind: "status", status: 400, message: refusals[api](input, output) }
      : undefined;
  };
  const calls = Array.from({ length: 5 }, () => toolCall("ls", { path: "." }));
  await using server = await startLoopbackServer({
    scenario: [turn(calls), "Five empty folders.", "Bye."],
    faults: fault,
    rules: false,
  });
  // Only hosted vendors are sent an output limit.
  const provider = "moonshotai";
  const { session, events } = await createTestSession([], {
    model: server.model(api, { provider, contextWindow: window, maxTokens: window }),
    providers: [keyless(provider)],
    stream: createStream(),
  });
  await session.prompt(text);
  await session.prompt("Thanks.");
  const types = events.map(({ type }) => type);
  const replies = session.messages.flatMap((message) =>
    message.role === "assistant" ? [message.stopReason] : [],
  );
  return { types, replies, requests: server.requests.length };
}

describe.each(["anthropic-messages", "openai-completions"] as const)(
  "a model over %s whose output limit is its window",
  (api) => {
    it.each(["Hello.", "word ".repeat(120_000)])(
      "answers each request, however the vendor counts messages and calls",
      async (text) => {
        const { types, replies, requests } = await converse(
          api,
          (characters, messages) => characters / 4 + messages * 20,
          text,
        );
        expect(replies).toEqual(["toolUse", "stop", "stop"]);
        expect(requests).toBe(3);
        expect(types).not.toContain("compaction_start");
      },
    );

    it("is asked again with the vendor's own numbers if it counts unexpectedly many tokens", async () => {
      const { types, replies, requests } = await converse(
        api,
        (characters) => characters / 2,
        "word ".repeat(50_000),
      );
      expect(replies).toEqual(["toolUse", "stop", "stop"]);
      expect(requests).toBeGreaterThan(3);
      expect(types).not.toContain("compaction_start");
      expect(types).not.toContain("auto_retry_start");
      expect(types.filter((type) => type === "message_start").length).toBe(
        types.filter((type) => type === "message_end").length,
      );
    });
  },
);

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Model } from "@tau-agent/rpc-protocol/messages";
import { describe, expect, it, onTestFinished } from "vitest";
import { createStream } from "../src/stream.ts";
import { toEventStream } from "../src/testing/wire/event-stream.ts";
import { wires } from "./contract-wires.ts";

async function serve(body: string | Uint8Array, type: string): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": type }).end(body);
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function resultOf(api: string, body: string | Uint8Array, type = "application/json") {
  const model = {
    ...{ id: "m", name: "m", provider: "p", api, baseUrl: `${await serve(body, type)}/v1` },
    ...{ input: ["text"], reasoning: false, contextWindow: 1000, maxTokens: 100 },
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  } as unknown as Model;
  const input = {
    systemPrompt: "",
    tools: [],
    messages: [{ role: "user", content: "hi", timestamp: 0 }],
  };
  const { environment } = wires.find((wire) => wire.api === api) ?? {};
  const options = { apiKey: environment === undefined ? tokenOf(api) : undefined, environment };
  const stream = createStream()(model, input as never, options as never);
  for (;;) {
    const step = await stream.next();
    if (step.done) return step.value;
  }
}

/** Codex reads the account from its token. */
function tokenOf(api: string): string {
  const account = { "https://api.openai.com/auth": { chatgpt_account_id: "a" } };
  const claims = Buffer.from(JSON.stringify(account)).toString("base64url");
  return api === "openai-codex-responses" ? `e30.${claims}.s` : "key";
}

/** AWS's events are binary, but errors that replace them are text. */
function bytesOf(api: string, body: string): string | Uint8Array {
  const end = body.lastIndexOf("\n\n") + 2;
  if (api !== "bedrock-converse-stream" || !body.startsWith("event: ")) return body;
  return Buffer.concat([toEventStream(body.slice(0, end)), Buffer.from(body.slice(end))]);
}

const money = { message: "Your credit balance is too low", type: "billing_error" };

describe.each(wires)("an error with status 200 of $api", ({ api, events }) => {
  it.each([
    ["as JSON", JSON.stringify({ error: money }), "application/json", "quota"],
    ["as JSON over lines", JSON.stringify({ error: money }, null, 2), "application/json", "quota"],
    [
      "as its own object",
      JSON.stringify({ type: "error", error: money }),
      "text/event-stream",
      "quota",
    ],
    ["in a list", JSON.stringify([{ error: money }]), "application/json", "quota"],
    ["by its words", '{"message":"Insufficient credits. Add more."}', "text/plain", "quota"],
    ["as text", "Insufficient credits", "text/plain", "quota"],
    ["by a status in it", '{"error":{"code":401,"message":"No"}}', "application/json", "auth"],
    ["that is busy", '{"error":{"message":"Overloaded"}}', "application/json", "overloaded"],
    [
      "after the beginning of a stream",
      `${events[0]}${JSON.stringify({ error: money })}`,
      "text/event-stream",
      "quota",
    ],
    [
      "about the window",
      '{"detail":"Prompt has 300,000 tokens, but the configured context size is 262,144 tokens"}',
      "application/json",
      "context_overflow",
    ],
  ])("is classified by its content: %s", async (_, body, type, code) => {
    const { error, message } = await resultOf(api, bytesOf(api, body), type);
    expect(error?.code).toBe(code);
    expect(message.errorMessage).not.toMatch(/connection ended|Deserialization/);
  });
});

it("an invalid prompt in a stream is final, whatever its text", async () => {
  const error = { code: "invalid_prompt", message: "The check of your prompt timed out" };
  const failed = { type: "response.failed", response: { id: "r", status: "failed", error } };
  for (const event of [failed, { type: "error", ...error }]) {
    const { error: found } = await resultOf(
      "openai-responses",
      `data: ${JSON.stringify(event)}\n\n`,
      "text/event-stream",
    );
    expect(found?.code).toBe("invalid_request");
  }
});

describe("text of a Responses item without streamed pieces", () => {
  const item = { id: "msg_1", type: "message", role: "assistant" };
  const place = { output_index: 0, item_id: "msg_1", content_index: 0 };
  const part = { type: "output_text", text: "Hello" };
  const added = {
    type: "response.output_item.added",
    output_index: 0,
    item: { ...item, content: [] },
  };
  const piece = { type: "response.output_text.delta", ...place, delta: "Hel" };
  const completed = (output: unknown[]) => ({
    type: "response.completed",
    response: { id: "r", status: "completed", output },
  });
  const itemDone = {
    type: "response.output_item.done",
    output_index: 0,
    item: { ...item, content: [part] },
  };
  const textDone = { type: "response.output_text.done", ...place, text: "Hello" };
  const partDone = { type: "response.content_part.done", ...place, part };

  it.each<[string, object[]]>([
    ["output_text.done", [added, textDone, completed([])]],
    ["output_text.done after some pieces", [added, piece, textDone, completed([])]],
    ["content_part.done", [added, partDone, completed([])]],
    ["both of them", [added, textDone, partDone, itemDone, completed([itemDone.item])]],
    ["output_item.done", [added, itemDone, completed([])]],
    ["output_item.done alone", [itemDone, completed([])]],
    ["response.completed", [added, completed([itemDone.item])]],
    ["response.completed alone", [completed([itemDone.item])]],
  ])("is taken from %s", async (_, events) => {
    const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
    const { message } = await resultOf("openai-responses", body, "text/event-stream");
    expect(message.content).toMatchObject([{ type: "text", text: "Hello" }]);
    expect(message.stopReason).toBe("stop");
  });

  it("is taken from the final arguments of a call if only those arrive", async () => {
    const call = { id: "fc_1", type: "function_call", call_id: "c", name: "ls", arguments: "" };
    const events = [
      { type: "response.output_item.added", output_index: 0, item: call },
      {
        ...{ type: "response.function_call_arguments.done", output_index: 0, item_id: "fc_1" },
        arguments: '{"path":"x"}',
      },
      completed([]),
    ];
    const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
    const { message } = await resultOf("openai-responses", body, "text/event-stream");
    expect(message.content).toMatchObject([{ type: "toolCall", arguments: { path: "x" } }]);
  });
});

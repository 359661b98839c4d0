import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { takeRefusals } from "../../../test/no-refusals.ts";
import {
  type BillingOptions,
  type BillingServer,
  type BillingVendor,
  createBillingServer,
} from "./billing-server.ts";

const minute = 60_000;
const words = (tokens: number, letter = "a") => letter.repeat(tokens * 4);

const servers: BillingServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function start(vendor: BillingVendor, options: Partial<BillingOptions> = {}) {
  let now = 0;
  const server = await createBillingServer({ vendor, clock: () => now, ...options });
  servers.push(server);
  const paths = {
    anthropic: "/v1/messages",
    openai: "/v1/responses",
    google: "/v1beta/models/gemini-3.8-flash:streamGenerateContent",
  };
  const send = async (body: object) => {
    const response = await fetch(server.url + paths[vendor], {
      method: "POST",
      headers: { "anthropic-version": "2023-06-01" },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (response.status !== 200) throw new Error(text);
    return text;
  };
  const last = () => server.report().requests.at(-1);
  return { server, send, last, pass: (ms: number) => (now += ms) };
}

const closed = { type: "object", additionalProperties: false };
const mark = { cache_control: { type: "ephemeral" } };
const hourMark = { cache_control: { type: "ephemeral", ttl: "1h" } };
const text = (tokens: number, letter: string, more: object = {}) => ({
  type: "text",
  text: words(tokens, letter),
  ...more,
});

/** A conversation of short messages, the last of which is marked. */
function conversation(count: number, more: object = {}) {
  const messages = Array.from({ length: count }, (_, index) => ({
    role: index % 2 === 0 ? "user" : "assistant",
    content: [text(50, String.fromCharCode(97 + (index % 26)), index === count - 1 ? mark : {})],
  }));
  const system = [text(2_000, "s", mark)];
  return { model: "claude-sonnet-5", max_tokens: 1_000, stream: true, system, messages, ...more };
}

describe("Anthropic", () => {
  it("charges 1.25 × for writing, and reads marked prefixes for five minutes after their last use", async () => {
    const { send, last, pass } = await start("anthropic");
    await send(conversation(1));
    expect(last()).toMatchObject({ uncached: 0, cacheWrite: 2_050, cacheRead: 0 });
    pass(4 * minute);
    await send(conversation(3));
    expect(last()).toMatchObject({ cacheWrite: 100, cacheRead: 2_050 });
    pass(4 * minute);
    await send(conversation(5));
    expect(last()).toMatchObject({ cacheWrite: 100, cacheRead: 2_150 });
    pass(5 * minute);
    await send(conversation(7));
    expect(last()).toMatchObject({ cacheWrite: 2_350, cacheRead: 0 });
    // Sonnet 5: $2 per million input tokens, $10 per million output tokens.
    expect(last()?.costUsd).toBeCloseTo((2_350 * 2.5 + 2 * 10) / 1e6, 9);
  });

  it("keeps a prefix marked for an hour that long, at twice the price of input", async () => {
    const { send, last, pass, server } = await start("anthropic");
    const body = conversation(1, { system: [text(2_000, "s", hourMark)] });
    const reply = await send(body);
    expect(reply).toContain('"ephemeral_1h_input_tokens":2000');
    expect(last()?.costUsd).toBeCloseTo((2_000 * 4 + 50 * 2.5 + 20) / 1e6, 9);
    pass(59 * minute);
    await send(body);
    expect(last()).toMatchObject({ cacheRead: 2_000, cacheWrite: 50 });
    expect(server.report().costUsd).toBeCloseTo(
      server.report().requests.reduce((sum, { costUsd }) => sum + costUsd, 0),
      12,
    );
  });

  it("caches nothing below the model's minimum", async () => {
    const { send, last } = await start("anthropic");
    const body = conversation(1, { model: "claude-haiku-4-5", system: [text(4_000, "s", mark)] });
    await send(body);
    expect(last()).toMatchObject({ uncached: 4_050, cacheWrite: 0 });
    await send({ ...body, model: "claude-opus-5" });
    expect(last()).toMatchObject({ uncached: 0, cacheWrite: 4_050 });
  });

  it("looks back twenty blocks from a mark, including the marked one", async () => {
    for (const [added, found] of [
      [19, true],
      [20, false],
    ] as const) {
      const { send, last } = await start("anthropic");
      const blocks = (count: number) =>
        Array.from({ length: count }, (_, at) => text(10, "xyz".charAt(at % 3)));
      const ask = (count: number) => {
        const content = blocks(count).map((block, at) =>
          at === count - 1 ? { ...block, ...mark } : block,
        );
        return send(conversation(1, { messages: [{ role: "user", content }] }));
      };
      await ask(5);
      await ask(5 + added);
      const read = found ? 2_050 : 2_000;
      expect(last()).toMatchObject({ cacheRead: read, uncached: 0 });
    }
  });

  it("caches only up to the last mark", async () => {
    const { send, last } = await start("anthropic");
    await send(conversation(1, { messages: [{ role: "user", content: words(300) }] }));
    expect(last()).toMatchObject({ uncached: 300, cacheWrite: 2_000 });
  });

  it("refuses a fifth mark without charging for the request", async () => {
    const { send, server } = await start("anthropic");
    const content = Array.from({ length: 4 }, () => text(10, "x", mark));
    await expect(send(conversation(1, { messages: [{ role: "user", content }] }))).rejects.toThrow(
      /maximum of 4 blocks/,
    );
    expect(server.report()).toEqual({ requests: [], costUsd: 0 });
    takeRefusals();
  });

  it.each([
    ["tools[1]", { tools: [tool("one"), tool("three")] }, 0],
    ["system[0]", { system: [text(2_000, "t", mark)] }, 0],
    ["thinking", { thinking: { type: "adaptive" } }, 2_000],
    ["output_config.effort", { output_config: { effort: "low" } }, 2_000],
    ["tool_choice", { tool_choice: { type: "any" } }, 2_000],
    [
      "output_config.format",
      { output_config: { format: { type: "json_schema", schema: closed } } },
      0,
    ],
    ["model", { model: "claude-opus-4-8" }, 0],
  ])("names %s as changed, and reads the cache up to it", async (name, change, read) => {
    const { send, last } = await start("anthropic");
    const tools = [tool("one"), tool("two")];
    await send(conversation(3, { tools }));
    expect(last()?.firstChangedBlock).toBeUndefined();
    await send(conversation(5, { tools, ...change }));
    expect(last()?.firstChangedBlock).toBe(name);
    const { cacheRead = -1 } = last() ?? {};
    expect(cacheRead > 0).toBe(read > 0);
  });

  it("names the changed block of a message", async () => {
    const { send, last } = await start("anthropic");
    await send(conversation(13));
    const body = conversation(15);
    const messages = body.messages.with(12, { role: "user", content: [text(50, "!")] });
    await send({ ...body, messages });
    expect(last()?.firstChangedBlock).toBe("messages[12].content[0]");
  });

  it("names the first message as changed by a compaction, and nothing in another conversation", async () => {
    const { send, last } = await start("anthropic");
    const body = conversation(13);
    await send(body);
    const first = { role: "user", content: [text(100, "summary of it")] };
    await send({ ...body, messages: [first, ...body.messages.slice(9)] });
    expect(last()?.firstChangedBlock).toBe("messages[0].content[0]");
    await send({ ...body, messages: [{ role: "user", content: [text(100, "other")] }] });
    expect(last()?.firstChangedBlock).toBeUndefined();
  });

  it("keeps the prefix when a tool was declared as deferred", async () => {
    const { send, last } = await start("anthropic");
    const late = { ...tool("late"), defer_loading: true };
    await send(conversation(3, { tools: [tool("one")] }));
    const before = last();
    await send(conversation(5, { tools: [tool("one"), late] }));
    expect(last()?.cacheRead).toBe(before?.cacheWrite);
  });

  it("answers a request for a single token without using up a turn", async () => {
    const { send, last } = await start("anthropic", { scenario: ["first", "second"] });
    expect(await send(conversation(1))).toContain("first");
    await send(conversation(1, { max_tokens: 1 }));
    expect(last()).toMatchObject({ cacheRead: 2_050, output: 1 });
    expect(await send(conversation(1))).toContain("second");
  });

  it("never charges twice for the prefix of a request that only extends the previous one", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 8 }),
        async (steps) => {
          const { send, last } = await start("anthropic");
          let known = 0;
          let count = 1;
          for (const step of [0, ...steps]) {
            count += 2 * step;
            await send(conversation(count));
            expect(last()).toMatchObject({ uncached: 0, cacheRead: known });
            expect(last()?.firstChangedBlock).toBeUndefined();
            known += last()?.cacheWrite ?? 0;
          }
        },
      ),
      { numRuns: 25 },
    );
  });
});

function tool(name: string) {
  return { name, description: words(100, name.charAt(0)), input_schema: { type: "object" } };
}

describe("OpenAI", () => {
  const ask = (model: string, tokens: number, more: object = {}) => ({
    model,
    stream: true,
    store: false,
    input: [{ role: "user", content: [{ type: "input_text", text: words(tokens) }] }],
    prompt_cache_key: "one",
    ...more,
  });

  it("reads in steps of 128 from 1 024 tokens on, and charges nothing for writing", async () => {
    const { send, last } = await start("openai");
    await send(ask("gpt-5.4", 1_500));
    expect(last()).toMatchObject({ uncached: 1_500, cacheWrite: 0, cacheRead: 0 });
    const reply = await send(ask("gpt-5.4", 1_600));
    expect(last()).toMatchObject({ cacheRead: 1_408, uncached: 192 });
    expect(reply).toContain('"cached_tokens":1408');
    await send(ask("gpt-5.4", 1_000));
    expect(last()).toMatchObject({ cacheRead: 0, uncached: 1_000 });
  });

  it("forgets after five minutes, or a day if requested, and never finds another key's prompts", async () => {
    const { send, last, pass } = await start("openai");
    await send(ask("gpt-5.4", 1_500));
    await send(ask("gpt-5.4", 1_500, { prompt_cache_key: "two" }));
    expect(last()).toMatchObject({ cacheRead: 0 });
    pass(5 * minute);
    await send(ask("gpt-5.4", 1_500, { prompt_cache_retention: "24h" }));
    expect(last()).toMatchObject({ cacheRead: 0 });
    pass(23 * 60 * minute);
    await send(ask("gpt-5.4", 1_500));
    expect(last()).toMatchObject({ cacheRead: 1_408 });
  });

  it("loses everything when the output format or effort changes", async () => {
    const { send, last } = await start("openai");
    await send(ask("gpt-5.4", 1_500));
    const format = { type: "json_schema", name: "output", schema: closed };
    await send(ask("gpt-5.4", 1_500, { text: { format } }));
    expect(last()).toMatchObject({ cacheRead: 0, firstChangedBlock: "text.format" });
    await send(ask("gpt-5.4", 1_500, { reasoning: { effort: "low" } }));
    expect(last()).toMatchObject({ cacheRead: 0, firstChangedBlock: "reasoning.effort" });
  });

  it("charges for writing up to the newest message with GPT-5.6 and later, and keeps it half an hour", async () => {
    const { send, last, pass } = await start("openai");
    await send(ask("gpt-6-sol", 1_500));
    expect(last()).toMatchObject({ uncached: 0, cacheWrite: 1_500, cacheRead: 0 });
    pass(29 * minute);
    const { input } = ask("gpt-6-sol", 1_500);
    const reply = { role: "assistant", content: [{ type: "output_text", text: words(100, "r") }] };
    const next = { role: "user", content: [{ type: "input_text", text: words(100, "n") }] };
    await send(ask("gpt-6-sol", 0, { input: [...input, reply, next] }));
    expect(last()).toMatchObject({ cacheWrite: 200, cacheRead: 1_500 });
    pass(30 * minute);
    await send(ask("gpt-6-sol", 1_500));
    expect(last()).toMatchObject({ cacheWrite: 1_500, cacheRead: 0 });
  });
});

describe("Google", () => {
  const ask = (tokens: number, more: object[] = []) => ({
    contents: [{ role: "user", parts: [{ text: words(tokens) }, ...more] }],
  });

  it("reads prompts from the model's minimum on", async () => {
    const { send, last, pass } = await start("google");
    await send(ask(4_000));
    await send(ask(5_000));
    expect(last()).toMatchObject({ cacheRead: 0 });
    pass(59 * minute);
    const reply = await send(ask(5_000, [{ text: words(100, "b") }]));
    expect(last()).toMatchObject({ cacheRead: 5_000, uncached: 100, cacheWrite: 0 });
    expect(reply).toContain('"cachedContentTokenCount":5000');
    expect(last()?.costUsd).toBeCloseTo((5_000 * 0.075 + 100 * 0.75 + 2 * 3.75) / 1e6, 9);
  });
});

it("counts pictures by the vendor's rule", async () => {
  const png = Buffer.alloc(24);
  png.writeUInt32BE(0x89504e47, 0);
  png.writeUInt32BE(1_000, 16);
  png.writeUInt32BE(500, 20);
  const data = png.toString("base64");
  const anthropic = await start("anthropic");
  const source = { type: "base64", media_type: "image/png", data };
  const messages = [{ role: "user", content: [{ type: "image", source }] }];
  await anthropic.send({ model: "claude-sonnet-5", max_tokens: 9, stream: true, messages });
  expect(anthropic.last()?.uncached).toBe(36 * 18);
  const openai = await start("openai");
  const content = [{ type: "input_image", image_url: `data:image/png;base64,${data}` }];
  await openai.send({
    model: "gpt-5.4",
    stream: true,
    store: false,
    input: [{ role: "user", content }],
  });
  expect(openai.last()?.uncached).toBe(Math.ceil(32 * 16 * 1.2));
  const google = await start("google");
  const parts = [{ inlineData: { mimeType: "image/png", data } }];
  await google.send({ contents: [{ role: "user", parts }] });
  expect(google.last()?.uncached).toBe(1_120);
});

it("refuses formats of other vendors and models missing from the catalogue", async () => {
  const { server, send } = await start("anthropic");
  const other = await fetch(`${server.url}/v1/responses`, { method: "POST", body: "{}" });
  expect(other.status).toBe(404);
  await expect(send(conversation(1, { model: "claude-none" }))).rejects.toThrow(/claude-none/);
});

it("provides models of the catalogue at its own address", async () => {
  const { server } = await start("google");
  const model = await server.model("gemini-3.8-flash");
  expect(model).toMatchObject({ id: "gemini-3.8-flash", provider: "google" });
  expect(model.baseUrl.startsWith(server.url)).toBe(true);
});

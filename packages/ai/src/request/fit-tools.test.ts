import type { LlmMessage, Model } from "@tau-agent/rpc-protocol/messages";
import { describe, expect, it } from "vitest";
import type { RequestDiagnostic, ToolDefinition } from "../provider.ts";
import { createStream, type StreamFunction, type StreamResult } from "../stream.ts";

const model: Model = {
  id: "m",
  name: "M",
  api: "anthropic-messages",
  provider: "p",
  baseUrl: "https://vendor.invalid/v1",
  reasoning: false,
  input: ["text"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 100_000,
  maxTokens: 8000,
};

interface SentTool {
  readonly name: string;
  readonly schema: Record<string, unknown>;
}

type Body = Record<string, never> & { tools?: Record<string, unknown>[] };

/** The tool format of each vendor, and a reply that calls a tool. */
const wires: Readonly<
  Record<string, { tools(body: Body): SentTool[]; call(name: string): unknown[] }>
> = {
  "anthropic-messages": {
    tools: ({ tools = [] }) =>
      tools.map((tool) => ({ name: String(tool.name), schema: tool.input_schema as never })),
    call: (name) => [
      { type: "message_start", message: { id: "m", model: "m", usage: {} } },
      {
        type: "content_block_start",
        index: 0,
        content_block: { type: "tool_use", id: "c1", name, input: {} },
      },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: {} },
      { type: "message_stop" },
    ],
  },
  "openai-completions": {
    tools: ({ tools = [] }) =>
      tools.map(({ function: tool }) => {
        const { name, parameters } = tool as never;
        return { name, schema: parameters };
      }),
    call: (name) => [
      { choices: [{ delta: { tool_calls: [{ index: 0, id: "c1", function: { name } }] } }] },
      { choices: [{ delta: {}, finish_reason: "tool_calls" }] },
    ],
  },
  "openai-responses": {
    tools: ({ tools = [] }) =>
      tools.map((tool) => ({ name: String(tool.name), schema: tool.parameters as never })),
    call: (name) => [
      {
        type: "response.completed",
        response: {
          status: "completed",
          output: [{ type: "function_call", call_id: "c1", name, arguments: "{}" }],
        },
      },
    ],
  },
  "google-generative-ai": {
    tools: ({ tools: [list] = [] }) =>
      ((list?.functionDeclarations ?? []) as Record<string, unknown>[]).map((tool) => ({
        name: String(tool.name),
        schema: tool.parametersJsonSchema as never,
      })),
    call: (name) => [
      {
        candidates: [
          { content: { parts: [{ functionCall: { name, args: {} } }] }, finishReason: "STOP" },
        ],
      },
    ],
  },
};

/** Sends one request; the server calls the tool that `pick` names. */
async function ask(
  api: string,
  tools: readonly ToolDefinition[],
  pick: (sent: SentTool[]) => string = () => "any",
  { messages, stream = createStream() }: { messages?: LlmMessage[]; stream?: StreamFunction } = {},
): Promise<StreamResult & { sent: SentTool[]; body: string; diagnostics: RequestDiagnostic[] }> {
  const wire = wires[api] ?? expect.fail(api);
  const diagnostics: RequestDiagnostic[] = [];
  let body = "";
  let sent: SentTool[] = [];
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    body = String(init?.body);
    sent = wire.tools(JSON.parse(body));
    const events = wire.call(pick(sent)).map((event) => {
      const { type } = event as { type?: string };
      return `${type ? `event: ${type}\n` : ""}data: ${JSON.stringify(event)}\n\n`;
    });
    return new Response(events.join(""), { headers: { "content-type": "text/event-stream" } });
  };
  const context = {
    messages: messages ?? [{ role: "user" as const, content: "Hi", timestamp: 1 }],
    tools,
  };
  const onDiagnostic = (diagnostic: RequestDiagnostic) => void diagnostics.push(diagnostic);
  const reply = stream({ ...model, api }, context, { apiKey: "k", fetch, onDiagnostic });
  for (;;) {
    const next = await reply.next();
    if (next.done) return { ...next.value, sent, body, diagnostics };
  }
}

const tool = (name: string, parameters: unknown = { type: "object", properties: {} }) =>
  ({ name, description: "Does it.", parameters }) as ToolDefinition;

const odd = [
  "mcp.server/search",
  "mcp_server_search",
  "検索",
  "2fa",
  "x".repeat(100),
  "x".repeat(101),
];

describe.each(Object.keys(wires))("tools over %s", (api) => {
  it("are called by names that the vendor accepts, and run under their own", async () => {
    for (const [index, own] of odd.entries()) {
      const { sent, message, diagnostics } = await ask(
        api,
        odd.map((name) => tool(name)),
        (tools) => tools[index]?.name ?? "",
      );
      expect(new Set(sent.map(({ name }) => name)).size).toBe(odd.length);
      for (const { name } of sent) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
      expect(message.content).toMatchObject([{ type: "toolCall", name: own }]);
      expect(diagnostics).toEqual([]);
    }
  });

  it("appear in the history under the names used in the request", async () => {
    const stream = createStream();
    const [first = ""] = odd;
    const { message, sent } = await ask(api, [tool(first)], ([only]) => only?.name ?? "", {
      stream,
    });
    const messages: LlmMessage[] = [{ role: "user", content: "Hi", timestamp: 1 }, message];
    const later = await ask(api, [tool("other")], undefined, { stream, messages });
    expect(later.body).toContain(`"${sent[0]?.name}"`);
    expect(later.body).not.toContain(first);
  });

  it("keep the meaning of schemas that the vendor would refuse as written", async () => {
    const named = (name: string) => ({
      type: "object",
      properties: { [name]: { type: "string" } },
      required: [name],
    });
    const { sent, diagnostics } = await ask(api, [
      tool("none", undefined),
      tool("typeless", { properties: { a: { type: "any" }, b: true, c: { type: "array" } } }),
      tool("draft4", {
        $schema: "http://json-schema.org/draft-04/schema#",
        type: "object",
        properties: {
          n: { type: "number", minimum: 1, exclusiveMinimum: true, required: true },
          pair: { type: "array", items: [{ type: "string" }, { type: "number" }] },
          far: { $ref: "https://elsewhere.invalid/x" },
          near: { $ref: "#/definitions/near" },
          p: { type: "string", pattern: "(?<=" },
        },
        required: ["n", "gone"],
        definitions: { near: { type: "string" } },
      }),
      tool("choice", { anyOf: [named("a"), { ...named("b"), required: ["b", "a"] }] }),
    ]);
    expect(diagnostics).toEqual([]);
    const [none, typeless, draft4, choice] = sent.map(({ schema }) => schema);
    expect(none).toEqual({ type: "object", properties: {} });
    expect(typeless).toEqual({
      type: "object",
      properties: { a: {}, b: {}, c: { type: "array", items: {} } },
    });
    expect(draft4).toEqual({
      type: "object",
      properties: {
        n: { type: "number", minimum: 1, exclusiveMinimum: 1 },
        pair: { type: "array", items: { anyOf: [{ type: "string" }, { type: "number" }] } },
        far: {},
        near: { $ref: "#/definitions/near" },
        p: { type: "string" },
      },
      required: ["n"],
      definitions: { near: { type: "string" } },
    });
    expect(choice).toMatchObject({
      type: "object",
      properties: { a: { type: "string" }, b: { type: "string" } },
      required: ["a"],
    });
    expect(choice).not.toHaveProperty("anyOf");
  });

  it("are omitted with one diagnostic that names them if they cannot be converted", async () => {
    const loop: Record<string, unknown> = { type: "object" };
    loop.self = loop;
    let deep: unknown = { type: "string" };
    for (let depth = 0; depth < 500; depth++) deep = { type: "array", items: deep };
    const tools = [
      tool("good"),
      tool("text", { type: "string" }),
      tool("loop", loop),
      tool("deep", { type: "object", properties: { deep } }),
      tool("good", { type: "object", properties: { other: {} } }),
      tool(" "),
    ];
    const stream = createStream();
    const { sent, diagnostics, body } = await ask(api, tools, undefined, { stream });
    expect(sent.map(({ name }) => name)).toEqual(["good"]);
    expect(body).not.toContain("other");
    expect(diagnostics).toEqual(
      ["text", "loop", "deep", "good", " "].map((name) => ({
        code: "tool_left_out",
        tool: name,
        message: expect.stringContaining(`The tool "${name}" is not offered to this model: `),
      })),
    );
    expect((await ask(api, tools, undefined, { stream })).diagnostics).toEqual([]);
  });
});

describe("properties whose names Anthropic refuses", () => {
  it("are omitted, and a tool that requires one is omitted entirely", async () => {
    const properties = { "a b": { type: "string" }, c: { type: "string" } };
    const { sent, diagnostics } = await ask("anthropic-messages", [
      tool("optional", { type: "object", properties, required: ["c"] }),
      tool("required", { type: "object", properties, required: ["a b"] }),
    ]);
    expect(sent).toEqual([
      {
        name: "optional",
        schema: { type: "object", properties: { c: { type: "string" } }, required: ["c"] },
      },
    ]);
    expect(diagnostics.map(({ tool: name }) => name)).toEqual(["required"]);
  });
});

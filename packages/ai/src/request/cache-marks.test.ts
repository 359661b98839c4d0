import type {
  AssistantContent,
  LlmMessage,
  Model,
  UserContent,
} from "@tau-agent/rpc-protocol/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeRequest as encodeAnthropic } from "../anthropic-messages/request.ts";
import { encodeRequest as encodeBedrock } from "../bedrock-converse-stream/request.ts";
import { encodeRequest as encodeCompletions } from "../openai-completions/request.ts";
import type { Context, StreamOptions } from "../provider.ts";
import { emptyUsage } from "../reply/empty-usage.ts";

type Json = Readonly<Record<string, unknown>>;

/** A block as the vendor counts it, and whether it has a mark. */
interface Block {
  readonly text: string;
  readonly isMarked: boolean;
}

const base = {
  name: "Claude",
  provider: "anthropic",
  reasoning: true,
  input: ["text", "image"] as Model["input"],
  baseUrl: "https://api.anthropic.com",
  cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
  contextWindow: 200_000,
  maxTokens: 8192,
};

const wires: Readonly<
  Record<string, (context: Context, options: StreamOptions) => { head: Block[]; rest: Block[] }>
> = {
  "anthropic-messages"(context, options) {
    const model = { ...base, api: "anthropic-messages", id: "claude-opus-5" };
    const { tools = [], system = [], messages } = encodeAnthropic(model, context, options).request;
    const all = messages.flatMap(({ content }) => content as unknown as Json[]);
    return { head: [...tools, ...(system as object[])].map(blockOf), rest: all.map(blockOf) };
  },
  "bedrock-converse-stream"(context, options) {
    const model = { ...base, api: "bedrock-converse-stream", id: "anthropic.claude-opus-5" };
    const { toolConfig, system = [], messages = [] } = encodeBedrock(model, context, options);
    const head = [...pointed(toolConfig?.tools ?? []), ...pointed(system)];
    return { head, rest: messages.flatMap(({ content = [] }) => pointed(content)) };
  },
  "openai-completions"(context, options) {
    const compat = { cacheControlFormat: "anthropic" };
    const model = { ...base, api: "openai-completions", id: "anthropic/claude-opus-5", compat };
    const { tools = [], messages } = encodeCompletions(model, context, options);
    const all = messages as unknown as Json[];
    const isSystem = ({ role }: Json): boolean => role === "system" || role === "developer";
    return {
      head: [...(tools as unknown as Json[]), ...all.filter(isSystem).flatMap(partsOf)].map(
        blockOf,
      ),
      rest: all
        .filter((message) => !isSystem(message))
        .flatMap(partsOf)
        .map(blockOf),
    };
  },
};

function blockOf(block: object): Block {
  const { cache_control: mark, ...rest } = block as Json;
  return { text: JSON.stringify(rest), isMarked: mark !== undefined };
}

/** A cache point marks the block before it. */
function pointed(content: readonly object[]): Block[] {
  const blocks: Block[] = [];
  for (const block of content) {
    const last = blocks.pop();
    if ("cachePoint" in block) {
      if (last === undefined) throw new Error("A cache point without a block before it");
      blocks.push({ ...last, isMarked: true });
    } else blocks.push(...(last ? [last] : []), { text: JSON.stringify(block), isMarked: false });
  }
  return blocks;
}

/** The blocks into which a gateway splits a message: texts and images, then calls. */
function partsOf({ content, tool_calls: calls, role, tool_call_id: id }: Json): Json[] {
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []);
  const own = (parts as Json[]).map((part) => ({ ...part, role, id }));
  return [...own, ...((calls ?? []) as Json[])];
}

/** Simulates the vendor's cache: it keeps prefixes that end at a mark and finds them up to 20 blocks before one. */
class Cache {
  /** The number of each prefix. */
  readonly #prefixes = new Map<string, number>();
  readonly #kept = new Set<number>();

  /** The number of blocks that the request reads from the cache, and that it stores. */
  read(blocks: readonly Block[]): { found: number; kept: number } {
    let last = 0;
    const prefixes = blocks.map(({ text }) => {
      const key = `${last} ${text}`;
      last = this.#prefixes.get(key) ?? this.#prefixes.size + 1;
      this.#prefixes.set(key, last);
      return last;
    });
    const marked = blocks.flatMap(({ isMarked }, at) => (isMarked ? [at] : []));
    expect(marked.length).toBeLessThanOrEqual(4);
    const found = marked.flatMap((at) => {
      const first = Math.max(0, at - 19);
      const back = prefixes.slice(first, at + 1).findLastIndex((prefix) => this.#kept.has(prefix));
      return back < 0 ? [] : [first + back + 1];
    });
    for (const at of marked) this.#kept.add(prefixes[at] ?? 0);
    return { found: Math.max(0, ...found), kept: (marked.at(-1) ?? -1) + 1 };
  }
}

/** The messages that one step adds: the reply to the previous request, and the answer to it. */
interface Step {
  readonly texts: number;
  readonly thinks: boolean;
  readonly calls: number;
  readonly images: number;
  /** Whether the previous request got no reply. */
  readonly hasFailed: boolean;
}

const step = fc.record<Step>({
  texts: fc.nat({ max: 3 }),
  thinks: fc.boolean(),
  calls: fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: 40 })),
  images: fc.oneof(fc.constant(0), fc.nat({ max: 30 })),
  hasFailed: fc.boolean(),
});

let count = 0;
const image = (): UserContent => ({ type: "image", data: `${++count}`, mimeType: "image/png" });
const text = (): UserContent => ({ type: "text", text: `text ${++count}` });

function prompt(images: number): LlmMessage {
  const content = [text(), ...Array.from({ length: images }, image)];
  return { role: "user", content, timestamp: 0 };
}

function messagesOf(step: Step): LlmMessage[] {
  // A short prompt, because a failed request may or may not have been cached near its marks.
  if (step.hasFailed) return [prompt(Math.min(step.images, 15))];
  const calls = Array.from({ length: step.calls }, () => `call${++count}`);
  const content: AssistantContent[] = [
    ...(step.thinks
      ? [{ type: "thinking" as const, thinking: "Hm", thinkingSignature: "c2ln" }]
      : []),
    ...Array.from({ length: step.texts }, () => ({
      type: "text" as const,
      text: `said ${++count}`,
    })),
    ...calls.map((id) => ({ type: "toolCall" as const, id, name: "ls", arguments: { path: id } })),
  ];
  if (step.texts + step.calls === 0) content.push({ type: "text", text: `said ${++count}` });
  const about = { api: "anthropic-messages", provider: "anthropic", model: "claude-opus-5" };
  const reply: LlmMessage = {
    role: "assistant",
    ...about,
    content,
    usage: emptyUsage(),
    stopReason: calls.length > 0 ? "toolUse" : "stop",
    timestamp: 0,
  };
  const results = calls.map(
    (toolCallId): LlmMessage => ({
      role: "toolResult",
      toolCallId,
      toolName: "ls",
      content: [{ type: "text", text: `result ${++count}` }],
      isError: false,
      timestamp: 0,
    }),
  );
  if (calls.length > 0 && step.images % 2 === 0) return [reply, ...results];
  return [reply, ...results, prompt(step.images)];
}

const tools = [{ name: "ls", description: "Lists", parameters: { type: "object" } }];

describe.each(Object.entries(wires))("requests over %s", (wire, encode) => {
  it("find the previous request's whole prefix in the cache, however much a step adds", () => {
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 1, maxLength: 8 }),
        fc.nat({ max: 60 }),
        fc.boolean(),
        (steps, images, hasSystem) => {
          const cache = new Cache();
          // Gateways accept marks only on text.
          const takesImages = !wire.startsWith("openai");
          const messages = [prompt(takesImages ? images : 0)];
          const send = (): { found: number; kept: number } => {
            const systemPrompt = hasSystem ? "Be brief." : undefined;
            const { head, rest } = encode({ systemPrompt, messages: [...messages], tools }, {});
            expect(rest.at(-1)?.isMarked).toBe(true);
            return cache.read([...head, ...rest]);
          };
          let { kept } = send();
          for (const each of steps) {
            messages.push(...messagesOf({ ...each, images: takesImages ? each.images : 0 }));
            const next = send();
            expect(next.found).toBeGreaterThanOrEqual(kept);
            kept = next.kept;
          }
        },
      ),
    );
  });

  it("carry no marks if caching is off", () => {
    const { head, rest } = encode({ messages: [prompt(2)], tools }, { cacheRetention: "none" });
    expect([...head, ...rest].some(({ isMarked }) => isMarked)).toBe(false);
  });

  it("mark the instructions, and the tools only if there are no instructions", () => {
    const marks = (systemPrompt?: string): string[] =>
      encode({ systemPrompt, messages: [prompt(0)], tools }, {})
        .head.filter(({ isMarked }) => isMarked)
        .map((block) => (block.text.includes("Be brief.") ? "system" : "tools"));
    expect(marks("Be brief.")).toEqual(["system"]);
    expect(marks()).toEqual(["tools"]);
  });
});

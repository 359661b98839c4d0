/**
 * Every provider of the catalogue against a server that is its endpoint: address, key, and what it
 * refuses. For each kind of model (what a provider's models say about their endpoint) a whole tool turn,
 * thinking and not, continued in another process, and after what other wire formats have said.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type AssistantMessage,
  type Context,
  createStream,
  type LlmMessage,
  listProviders,
  loadModels,
  type Model,
  type StreamFunction,
  supportedThinkingLevels,
  type ThinkingLevel,
} from "@tau-agent/ai";
import {
  type LoopbackServer,
  loopbackFetch,
  type ScenarioRequest,
  startLoopbackServer,
  type Turn,
  thinking,
  toolCall,
  type Vendor,
  vendors,
} from "@tau-agent/ai/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { builtInCatalog } from "../src/models/catalog.ts";
import { createModelRegistry } from "../src/models/create-model-registry.ts";
import type { ModelRegistry } from "../src/models/registry.ts";
import { ProcessRegistry } from "../src/processes/process-registry.ts";

/** Providers whose addresses and keys are a cloud's or a login's; they have tests of their own. */
const elsewhere = new Set([
  ...["amazon-bedrock", "azure", "google-vertex", "mistral", "github-copilot", "openai-codex"],
]);
const key = "the-key-of-a-user";
const agentDirectory = mkdtempSync(join(tmpdir(), "tau-matrix-"));
afterAll(() => rmSync(agentDirectory, { recursive: true, force: true }));

const registry: ModelRegistry = createModelRegistry({
  agentDirectory,
  processes: new ProcessRegistry(),
  catalog: builtInCatalog(),
  environment: { CLOUDFLARE_ACCOUNT_ID: "account", CLOUDFLARE_GATEWAY_ID: "gateway" },
});
for (const { id } of listProviders()) registry.keys.setRuntimeKey(id, key);

const tool = {
  name: "read",
  description: "Reads a file",
  parameters: {
    type: "object",
    properties: { path: { type: "string" } },
    required: ["path"],
  },
};

/** Reads a file when told to, and thinks when asked to. */
function decide({ lastUserText, toolResults }: ScenarioRequest, isThinking: boolean): Turn {
  const thoughts = isThinking ? [thinking("Hm, a file.", { signature: "c2lnbmF0dXJl" })] : [];
  if (toolResults.length > 0) return { content: [...thoughts, `It says ${toolResults[0]?.text}.`] };
  if (!lastUserText.includes("Read")) return { content: [...thoughts, "Gladly."] };
  return { content: [...thoughts, "Let me look.", toolCall("read", { path: "a.txt" })] };
}

const user = (content: string): LlmMessage => ({ role: "user", content, timestamp: 1 });

/** One model at one vendor's endpoint, at one level. */
class Visit {
  readonly #vendor: Vendor;
  readonly #model: Model;
  readonly #level: ThinkingLevel;
  constructor(vendor: Vendor, model: Model, level: ThinkingLevel) {
    this.#vendor = vendor;
    this.#model = model;
    this.#level = level;
  }

  /** A tool turn, then the same conversation in another process. */
  async toolTurn(): Promise<readonly LlmMessage[]> {
    await using server = await this.#serve();
    const stream = createStream();
    const messages: LlmMessage[] = [user("Read a.txt")];
    const call = await this.#ask(server, stream, messages);
    const block = call.content.find((part) => part.type === "toolCall");
    expect(call.stopReason).toBe("toolUse");
    expect(block).toMatchObject({ name: "read", arguments: { path: "a.txt" } });
    const { id: toolCallId = "" } = block ?? {};
    const content = [{ type: "text" as const, text: "hello" }];
    const named = { toolCallId, toolName: "read", isError: false, timestamp: 1 };
    messages.push(call, { role: "toolResult", content, ...named });
    messages.push(await this.#expectText(server, stream, messages, "It says hello."));
    const stored: LlmMessage[] = JSON.parse(JSON.stringify([...messages, user("Thank you.")]));
    await this.#expectText(server, createStream(), stored, "Gladly.");
    return messages;
  }

  /** Goes on where others have left off. */
  async goOn(history: readonly LlmMessage[]): Promise<void> {
    await using server = await this.#serve();
    const messages = [...history, user("Read a.txt")];
    const { stopReason } = await this.#ask(server, createStream(), messages);
    expect(stopReason).toBe("toolUse");
  }

  #serve(): Promise<LoopbackServer> {
    const { id, contextWindow, maxTokens } = this.#model;
    return startLoopbackServer({
      scenario: (request) => decide(request, this.#level !== "off"),
      vendor: this.#vendor,
      credentials: { key },
      limits: { [id]: { contextWindow, maxTokens } },
    });
  }

  async #expectText(
    server: LoopbackServer,
    stream: StreamFunction,
    messages: readonly LlmMessage[],
    expected: string,
  ): Promise<AssistantMessage> {
    const reply = await this.#ask(server, stream, messages);
    const text = reply.content.map((part) => (part.type === "text" ? part.text : "")).join("");
    expect({ text, stop: reply.stopReason }).toEqual({ text: expected, stop: "stop" });
    return reply;
  }

  async #ask(
    server: LoopbackServer,
    stream: StreamFunction,
    messages: readonly LlmMessage[],
  ): Promise<AssistantMessage> {
    const context: Context = { systemPrompt: "You help.", messages, tools: [tool] };
    const reply = stream(this.#model, context, {
      ...(await registry.requestAuth(this.#model)),
      fetch: loopbackFetch(server),
      thinkingLevel: this.#level,
      sessionId: "session",
      cacheRetention: "long",
    });
    for (;;) {
      const next = await reply.next();
      if (!next.done) continue;
      const { message } = next.value;
      expect(message.errorMessage).toBeUndefined();
      this.#expectThinking(server, message);
      expect(message.usage.totalTokens).toBeGreaterThan(0);
      return message;
    }
  }

  #expectThinking(server: LoopbackServer, { content }: AssistantMessage): void {
    const isOn = this.#level !== "off";
    const body = server.requests.at(-1)?.body as Record<string, unknown>;
    const isAsked = (isOn && canAskToThink(this.#model)) || thinksAlways(this.#model);
    expect(this.#vendor.thinks(body)).toBe(isAsked);
    expect(content.some(({ type }) => type === "thinking")).toBe(isOn);
  }
}

/** Claude 5.5, Fable 5.1 and 5.2 refuse earlier thinking from requests without it (decision 53). */
function thinksAlways({ id, api }: Model): boolean {
  return api === "anthropic-messages" && /claude-(?:\w+-5[.-]5|fable-5[.-][12])/.test(id);
}

/** Some endpoints think as much as they like, and have no word for it. */
function canAskToThink({ api, compat = {} }: Model): boolean {
  const { supportsReasoningEffort, thinkingFormat = "openai" } = compat;
  return supportsReasoningEffort !== false || thinkingFormat !== "openai" || api.startsWith("anth");
}

/** One model for each kind that an endpoint has. */
async function kindsOf({ provider, api }: Vendor): Promise<readonly Model[]> {
  const kinds = new Map<string, Model>();
  for (const model of await registry.models(provider)) {
    const { compat, reasoning, thinkingLevelMap } = model;
    const kind = JSON.stringify([compat, reasoning, Object.values(thinkingLevelMap ?? {}).length]);
    if (model.api === api && !kinds.has(kind)) kinds.set(kind, model);
  }
  return [...kinds.values()];
}

function levelsOf(model: Model): readonly ThinkingLevel[] {
  const supported = supportedThinkingLevels(model);
  const on = (["high", "medium", "low", "max"] as const).find((level) => supported.includes(level));
  return [...(supported.includes("off") ? (["off"] as const) : []), ...(on ? [on] : [])];
}

it("has a server for every endpoint of the catalogue", async () => {
  const served = new Set(vendors.map(({ provider, api }) => `${provider} ${api}`));
  for (const { id } of listProviders()) {
    if (elsewhere.has(id)) continue;
    for (const { api } of await loadModels(id)) expect(served).toContain(`${id} ${api}`);
  }
});

/** What a conversation in each wire format left behind. */
const histories = new Map<string, readonly LlmMessage[]>();

beforeAll(async () => {
  for (const vendor of vendors) {
    if (histories.has(vendor.api)) continue;
    const models = await registry.models(vendor.provider);
    const model = models.find(({ reasoning }) => reasoning);
    if (model === undefined) throw new Error(`${vendor.provider} has no model that thinks`);
    const level = levelsOf(model).at(-1) ?? "off";
    histories.set(vendor.api, await new Visit(vendor, model, level).toolTurn());
  }
});

describe.each(vendors)("$provider in the format $api", (vendor) => {
  it("gets a whole tool turn right, thinking or not, and after a restart", async () => {
    const kinds = await kindsOf(vendor);
    expect(kinds.length).toBeGreaterThan(0);
    for (const model of kinds) {
      for (const level of levelsOf(model)) await new Visit(vendor, model, level).toolTurn();
    }
  });

  it("takes what every other format has said", async () => {
    for (const model of await kindsOf(vendor)) {
      const level = levelsOf(model).at(-1) ?? "off";
      for (const [api, history] of histories) {
        if (api !== vendor.api) await new Visit(vendor, model, level).goOn(history);
      }
    }
  });
});

import { setTimeout as sleep } from "node:timers/promises";
import type { LlmMessage, Model } from "@tau-agent/rpc-protocol/messages";
import { classifyFailure, ProviderError } from "../errors.ts";
import type { Delta, Provider, StreamOptions } from "../provider.ts";
import { readSdkError } from "../sdk-error.ts";
import { deltasBefore, type Fault } from "./fault.ts";
import { loadScenario } from "./load-scenario.ts";
import type { Scenario } from "./scenario.ts";
import { type PlainRequest, type PlayedTurn, ScenarioPlayer } from "./scenario-player.ts";
import { turnDeltas, usageOf } from "./turn-deltas.ts";

/** A pseudo wire format that plays a scenario in this process. */
export type ScriptedProvider = Provider<PlainRequest, Delta>;

/** A provider whose replies are the turns of a scenario; it tracks its progress across requests. */
export function scriptedProvider(scenario: Scenario): ScriptedProvider {
  const player = new ScenarioPlayer(scenario);
  return createProvider(async () => player);
}

/**
 * A provider whose models are scenario files: a model's id is the path of its file, which is loaded with the
 * first request. Create it once and reuse it, because it tracks the progress of each scenario.
 */
export function scenarioFileProvider(): ScriptedProvider {
  const players = new Map<string, Promise<ScenarioPlayer>>();
  return createProvider((model) => {
    const known = players.get(model.id);
    if (known !== undefined) return known;
    const player = loadScenario(model.id).then((scenario) => new ScenarioPlayer(scenario));
    players.set(model.id, player);
    return player;
  });
}

/** A model for a scripted provider; free of charge by default. */
export function scriptedModel(overrides: Partial<Model> = {}): Model {
  return {
    id: "scenario",
    name: "Scripted model",
    api: "scripted",
    provider: "scripted",
    baseUrl: "",
    reasoning: true,
    input: ["text", "image"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: 200_000,
    maxTokens: 32_000,
    ...overrides,
  };
}

function createProvider(playerFor: (model: Model) => Promise<ScenarioPlayer>): ScriptedProvider {
  return {
    api: "scripted",
    endsAtStop: true,
    encode: (model, context) => ({ ...context, model: model.id }),
    open: async (model, request, options) => {
      const player = await playerFor(model);
      return play(await player.next(request), model, options);
    },
    reduce: () => (delta) => [delta],
    classify: (error) =>
      classifyFailure({
        message: error instanceof Error ? error.message : String(error),
        cause: error,
      }),
  };
}

async function* play(
  { turn, request }: PlayedTurn,
  { contextWindow }: Model,
  { signal }: StreamOptions,
): AsyncGenerator<Delta> {
  const { fault } = turn;
  let left = deltasBefore(fault);
  if (fault !== undefined && left === undefined) throw faultError(fault);
  const characters = request.systemPrompt.length + countCharacters(request.messages);
  // A scripted model accepts input of any size: only a turn's explicit usage can exceed the window.
  const usage = usageOf(turn, Math.min(characters, contextWindow * 4));
  for (const { delta, delayMs } of turnDeltas(turn, request.index, usage)) {
    if (fault !== undefined && left !== undefined && left-- <= 0) {
      if (fault.kind === "truncate") return;
      if (fault.kind === "stall") await sleep(2 ** 30, undefined, { signal });
      throw faultError(fault);
    }
    if (delayMs > 0) await sleep(delayMs, undefined, { signal });
    yield delta;
  }
}

function faultError(fault: Fault): ProviderError {
  if (fault.kind === "status") {
    const { status, body } = fault;
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const headers = new Headers(fault.headers);
    const error = Object.assign(new Error(fault.message ?? text ?? "Scripted error"), { status });
    return new ProviderError(classifyFailure({ ...readSdkError(error), headers }));
  }
  if (fault.kind === "overflow") {
    return new ProviderError({ code: "context_overflow", message: "Scripted context overflow" });
  }
  if (fault.kind === "error_event") {
    const { message, code: vendorCode } = fault;
    return new ProviderError(classifyFailure({ message, vendorCode }));
  }
  return new ProviderError({ code: "network", message: `Scripted fault: ${fault.kind}` });
}

function countCharacters(messages: readonly LlmMessage[]): number {
  let count = 0;
  for (const { content } of messages) {
    if (typeof content === "string") {
      count += content.length;
      continue;
    }
    for (const block of content) {
      if (block.type === "text") count += block.text.length;
      else if (block.type === "toolCall") count += JSON.stringify(block.arguments).length;
    }
  }
  return count;
}

import { channel } from "node:diagnostics_channel";
import type { LlmMessage, UserContent } from "@tau-agent/rpc-protocol/messages";
import { ProviderError } from "../errors.ts";
import type { Context } from "../provider.ts";
import type { Scenario, Turn } from "./scenario.ts";
import type { ScenarioRequest, SeenToolResult } from "./scenario-request.ts";
import { fillCaptures, matchCondition } from "./turn-condition.ts";

/** A request before the player has numbered it. */
export interface PlainRequest extends Context {
  readonly model: string;
}

/** The next turn to play and the request it answers. */
export interface PlayedTurn {
  readonly turn: Turn;
  readonly request: ScenarioRequest;
}

/** Publishes what each scripted model in this process reads, so that a test can fail because of it. */
const requestChannel = channel("@tau-agent/ai/testing/request");

/** Plays a scenario; tracks which turns have been used. */
export class ScenarioPlayer {
  readonly #scenario: Scenario;
  readonly #used = new Set<number>();
  #requestCount = 0;

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
  }

  /**
   * The turn that answers a request: `turn`, or the next one of the scenario. With `keep`, it is not used up,
   * because the same request may be repeated.
   *
   * @throws {ProviderError} `invalid_request` if no matching turn is left
   */
  async next(
    plain: PlainRequest,
    options: { readonly keep?: boolean; readonly turn?: Turn | undefined } = {},
  ): Promise<PlayedTurn> {
    if (requestChannel.hasSubscribers) requestChannel.publish({ player: this, request: plain });
    const request = lookAt(plain, this.#requestCount);
    this.#requestCount++;
    if (options.turn !== undefined) return { turn: options.turn, request };
    const turn =
      typeof this.#scenario === "function"
        ? asTurn(await this.#scenario(request))
        : this.#take(this.#scenario, request, options.keep === true);
    if (turn === undefined) throw this.#runOut(request);
    return { turn, request };
  }

  #take(
    turns: readonly (Turn | string)[],
    request: ScenarioRequest,
    keep: boolean,
  ): Turn | undefined {
    for (const [index, candidate] of turns.entries()) {
      if (this.#used.has(index)) continue;
      const turn = asTurn(candidate);
      const captures = matchCondition(turn?.when, request);
      if (turn === undefined || captures === undefined) continue;
      if (!keep && turn.repeat !== true) this.#used.add(index);
      const { when: _, content, ...rest } = turn;
      return Object.keys(captures).length === 0
        ? { ...rest, content }
        : { ...rest, content: fillCaptures(content, captures) };
    }
    return undefined;
  }

  #runOut(request: ScenarioRequest): ProviderError {
    const results = request.toolResults;
    const last =
      results.length > 0
        ? `results of ${results.map((result) => result.toolName).join(", ")}: ${excerpt(results.at(-1)?.text)}`
        : `the user's ${excerpt(request.lastUserText)}`;
    const left = Array.isArray(this.#scenario)
      ? ` (${this.#used.size} of ${this.#scenario.length} turns used)`
      : "";
    return new ProviderError({
      code: "invalid_request",
      message: `The scenario has no turn for request ${request.index + 1}${left}. It ends with ${last}`,
    });
  }
}

function asTurn(turn: Turn | string | undefined): Turn | undefined {
  return typeof turn === "string" ? { content: turn } : turn;
}

function excerpt(text = ""): string {
  return JSON.stringify(text.length > 120 ? `${text.slice(0, 120)}…` : text);
}

function lookAt(plain: PlainRequest, index: number): ScenarioRequest {
  const { messages } = plain;
  const lastUser = messages.findLast((message) => message.role === "user");
  return {
    model: plain.model,
    systemPrompt: plain.systemPrompt ?? "",
    messages,
    tools: plain.tools ?? [],
    index,
    lastUserText: lastUser === undefined ? "" : ownText(textOf(lastUser.content)),
    toolResults: trailingResults(messages),
  };
}

function trailingResults(messages: readonly LlmMessage[]): SeenToolResult[] {
  const results: SeenToolResult[] = [];
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at];
    if (message?.role !== "toolResult") break;
    const { toolName, toolCallId, isError } = message;
    results.unshift({ toolName, toolCallId, isError, text: textOf(message.content) });
  }
  return results;
}

function textOf(content: string | readonly UserContent[]): string {
  if (typeof content === "string") return content;
  return content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}

/** The user's text, without the note on date and platform that a coding agent adds. */
function ownText(text: string): string {
  return text
    .replace(/\s*<environment>\n[^<]*<\/environment>$/, "")
    .replace(/\s*<output-format>\n[\s\S]*<\/output-format>$/, "");
}

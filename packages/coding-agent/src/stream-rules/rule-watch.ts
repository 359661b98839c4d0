import type { AssistantMessageEvent } from "@tau-agent/rpc-protocol/events";
import type { AssistantContent } from "@tau-agent/rpc-protocol/messages";
import type { StreamRule } from "../resources/rules/stream-rule.ts";
import { TextBlockWatch, ToolCallWatch } from "./block-watch.ts";
import type { MatchResult, MatchThread } from "./match-thread.ts";
import type { PatternNumbers, Probe } from "./text-window.ts";

export interface RuleWatchOptions {
  readonly rules: readonly StreamRule[];
  readonly thread: MatchThread;
  /** Aborts with the run. */
  readonly run: AbortSignal;
  readonly toProjectPath: (path: string) => string;
  /** The numbers of unusable patterns; the watch adds to them. */
  readonly hopeless: Set<number>;
  readonly onHopeless: (patterns: readonly number[]) => void;
}

/** The time limit of all slow searches for one pattern within one reply. */
const SLOW_LIMIT_MS = 5000;

/** Searches one reply for matching rules, block by block, while it streams. */
export class RuleWatch {
  readonly #options: RuleWatchOptions;
  readonly #texts = new Map<number, TextBlockWatch>();
  readonly #calls = new Map<number, ToolCallWatch>();
  readonly #slowMs = new Map<number, number>();
  readonly #textPatterns: PatternNumbers;
  readonly #thinkingPatterns: PatternNumbers;

  constructor(options: RuleWatchOptions) {
    this.#options = options;
    const { rules } = options;
    this.#textPatterns = this.#numbersOf(rules.filter(({ scope }) => scope.watchesText));
    this.#thinkingPatterns = this.#numbersOf(rules.filter(({ scope }) => scope.watchesThinking));
  }

  /** The rules that a step of the reply breaks; undefined if the step adds nothing to search. */
  look(event: AssistantMessageEvent): Promise<readonly StreamRule[]> | undefined {
    const probes = this.#probesOf(event);
    return probes.length === 0 ? undefined : this.#search(probes);
  }

  #probesOf(event: AssistantMessageEvent): Probe[] {
    switch (event.type) {
      case "text_delta":
      case "thinking_delta":
        return this.#text(event).push(event.delta);
      case "text_end":
      case "thinking_end":
        return this.#text(event).end(event.content);
      case "toolcall_start":
        this.#call(event.contentIndex, event.toolName);
        return [];
      case "toolcall_delta": {
        const call = event.partial.content[event.contentIndex];
        return this.#call(event.contentIndex, nameOf(call)).push(event.delta, call);
      }
      case "toolcall_end":
        return this.#call(event.contentIndex, event.toolCall.name).end(event.toolCall);
      default:
        return [];
    }
  }

  #text({ type, contentIndex }: { type: string; contentIndex: number }): TextBlockWatch {
    const known = this.#texts.get(contentIndex);
    if (known !== undefined) return known;
    const isText = type.startsWith("text");
    const made = new TextBlockWatch(isText ? this.#textPatterns : this.#thinkingPatterns);
    this.#texts.set(contentIndex, made);
    return made;
  }

  #call(contentIndex: number, name: string): ToolCallWatch {
    const known = this.#calls.get(contentIndex);
    if (known !== undefined) return known;
    const { rules, toProjectPath } = this.#options;
    const numbersOf = (some: readonly StreamRule[]) => this.#numbersOf(some);
    const made = new ToolCallWatch(name, rules, { numbersOf, toProjectPath });
    this.#calls.set(contentIndex, made);
    return made;
  }

  async #search(probes: readonly Probe[]): Promise<readonly StreamRule[]> {
    const { thread, run, rules } = this.#options;
    for (;;) {
      const wanted = this.#withoutHopeless(probes);
      if (wanted.length === 0) return [];
      const result = await thread.search(wanted, run);
      const hasChanged = this.#noteHopeless(result);
      const { matched, hopeless } = result;
      if (matched.length > 0) {
        const hasMatched = new Set(matched);
        return rules.filter(({ patterns }) =>
          patterns.some((pattern) => hasMatched.has(thread.numberOf(pattern))),
        );
      }
      // The blocking pattern is now excluded, so search again for the others.
      if (hopeless.length === 0 || !hasChanged) return [];
    }
  }

  #numbersOf(rules: readonly StreamRule[]): PatternNumbers {
    const { thread } = this.#options;
    const patterns = rules.flatMap((rule) => rule.patterns);
    const numbers = (isOnLine: boolean): number[] => {
      const chosen = patterns.filter(({ isLineBound }) => isLineBound === isOnLine);
      return [...new Set(chosen.map((pattern) => thread.numberOf(pattern)))];
    };
    return { onLine: numbers(true), anywhere: numbers(false) };
  }

  #withoutHopeless(probes: readonly Probe[]): readonly Probe[] {
    const { hopeless } = this.#options;
    if (hopeless.size === 0) return probes;
    const isWanted = (pattern: number): boolean => !hopeless.has(pattern);
    return probes
      .map((probe) => ({ ...probe, patterns: probe.patterns.filter(isWanted) }))
      .filter(({ patterns }) => patterns.length > 0);
  }

  /** Notes unusable patterns; returns whether there are new ones. */
  #noteHopeless({ slow, hopeless }: MatchResult): boolean {
    const found = [...hopeless];
    for (const [pattern, ms] of slow) {
      const spentMs = (this.#slowMs.get(pattern) ?? 0) + ms;
      this.#slowMs.set(pattern, spentMs);
      if (spentMs > SLOW_LIMIT_MS) found.push(pattern);
    }
    const known = this.#options.hopeless;
    const added = found.filter((pattern) => !known.has(pattern));
    for (const pattern of added) known.add(pattern);
    if (added.length > 0) this.#options.onHopeless(added);
    return added.length > 0;
  }
}

function nameOf(content: AssistantContent | undefined): string {
  return content?.type === "toolCall" ? content.name : "";
}

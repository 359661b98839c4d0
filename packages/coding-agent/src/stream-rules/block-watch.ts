import type { AssistantContent } from "@tau-agent/rpc-protocol/messages";
import { coversFiles, filesOf, interestIn } from "../resources/rules/rule-scope.ts";
import type { StreamRule } from "../resources/rules/stream-rule.ts";
import { ArgumentText } from "./argument-text.ts";
import { GrowingText, type PatternNumbers, type Probe } from "./text-window.ts";

type ToolCall = Extract<AssistantContent, { type: "toolCall" }>;

/** A growing block of text or thinking. */
export class TextBlockWatch {
  readonly #text: GrowingText;

  constructor(patterns: PatternNumbers) {
    this.#text = new GrowingText(patterns);
  }

  push(delta: string): Probe[] {
    return delta === "" ? [] : this.#text.add(delta);
  }

  /** Takes the part of the whole text that arrived without a delta. */
  end(content: string): Probe[] {
    return this.push(content.slice(this.#text.length));
  }
}

/** A call's growing arguments: as a whole, and each string separately. */
class ArgumentsWatch {
  readonly #text = new ArgumentText();
  readonly #whole: GrowingText;
  readonly #value: GrowingText;

  constructor(patterns: PatternNumbers) {
    this.#whole = new GrowingText(patterns);
    this.#value = new GrowingText(patterns);
  }

  push(json: string): Probe[] {
    const { whole, values } = this.#text.push(json);
    const probes = this.#whole.add(whole);
    for (const { text, isStart } of values) {
      if (isStart) this.#value.restart();
      probes.push(...this.#value.add(text));
    }
    return probes;
  }
}

/** A growing tool call. Rules about certain files wait until its file is known. */
export class ToolCallWatch {
  readonly #name: string;
  readonly #numbersOf: (rules: readonly StreamRule[]) => PatternNumbers;
  readonly #toProjectPath: (path: string) => string;
  #watches: ArgumentsWatch[];
  /** Waiting rules, and the text that arrived meanwhile. */
  #waiting: readonly StreamRule[];
  #held: string[] = [];
  #hasDeltas = false;

  constructor(
    name: string,
    rules: readonly StreamRule[],
    shared: {
      readonly numbersOf: (rules: readonly StreamRule[]) => PatternNumbers;
      readonly toProjectPath: (path: string) => string;
    },
  ) {
    this.#name = name;
    this.#numbersOf = shared.numbersOf;
    this.#toProjectPath = shared.toProjectPath;
    const always = rules.filter(({ scope }) => interestIn(scope, name) === "always");
    this.#waiting = rules.filter(({ scope }) => interestIn(scope, name) === "file");
    this.#watches = always.length === 0 ? [] : [new ArgumentsWatch(this.#numbersOf(always))];
  }

  /** Adds a delta; `call` is the call so far. */
  push(delta: string, call: AssistantContent | undefined): Probe[] {
    this.#hasDeltas = true;
    const probes = this.#watches.flatMap((watch) => watch.push(delta));
    if (this.#waiting.length === 0) return probes;
    this.#held.push(delta);
    if (call?.type === "toolCall") probes.push(...this.#decide(call, false));
    return probes;
  }

  /** Adds text that arrived without deltas, and decides about rules that still wait. */
  end(call: ToolCall): Probe[] {
    const probes = this.#hasDeltas ? [] : this.push(JSON.stringify(call.arguments), undefined);
    if (this.#waiting.length > 0) probes.push(...this.#decide(call, true));
    return probes;
  }

  #decide(call: ToolCall, isComplete: boolean): Probe[] {
    const files = filesOf(call, isComplete)?.map(this.#toProjectPath);
    if (files === undefined) return [];
    const rules = this.#waiting.filter(({ scope }) => coversFiles(scope, this.#name, files));
    const held = this.#held.join("");
    this.#waiting = [];
    this.#held = [];
    if (rules.length === 0) return [];
    const watch = new ArgumentsWatch(this.#numbersOf(rules));
    this.#watches.push(watch);
    return watch.push(held);
  }
}

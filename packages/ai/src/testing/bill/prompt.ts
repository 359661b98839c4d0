import type { JsonObject } from "@tau-agent/rpc-protocol/plain";
import { textTokens } from "./tokens.ts";

/** A block of a request, or a setting that the vendor's cache depends on. */
export interface PromptPart {
  /** Where it is in the request, e.g. `tools[3]`, `messages[12].content[0]`. */
  readonly name: string;
  /** What a cache compares. */
  readonly content: string;
  /** 0 for a setting that adds no text. */
  readonly tokens: number;
  /** A setting is not a block: no mark and no lookback counts it. */
  readonly isSetting?: true;
  /** How long the cache keeps the prompt up to here, in ms; undefined without a mark. */
  readonly mark?: number | undefined;
}

/** A request as the vendor's cache sees it: its parts in the order in which the vendor reads them. */
export interface Prompt {
  readonly parts: readonly PromptPart[];
  /** Where in `parts` the conversation begins. */
  readonly firstMessage: number;
  /** The key by which requests find the cache of others. */
  readonly key: string;
  /** The most tokens that the reply may have. */
  readonly maxOutput: number | undefined;
  /** How long the request asks the cache to be kept, in ms. */
  readonly retention?: number | undefined;
}

/** A setting, as a list to spread; empty if it is not there. */
export function setting(name: string, value: unknown, tokens = 0): PromptPart[] {
  if (value === undefined) return [];
  return [{ name, content: JSON.stringify(value), tokens, isSetting: true }];
}

/** A block without its cache marks, as text. */
export function withoutMark(block: JsonObject): string {
  return JSON.stringify(block, (name, value) => (marks.has(name) ? undefined : value));
}

const marks: ReadonlySet<string> = new Set(["cache_control", "prompt_cache_breakpoint"]);

/** Tokens of a value that is sent as JSON; 0 if it is not there. */
export function jsonTokens(value: unknown): number {
  return value === undefined ? 0 : textTokens(JSON.stringify(value));
}

/** Tokens of the parts up to and with each. */
export function cumulativeTokens({ parts }: Prompt): number[] {
  let sum = 0;
  return parts.map(({ tokens }) => {
    sum += tokens;
    return sum;
  });
}

/** Gives equal beginnings of prompts equal numbers. */
export class PrefixIds {
  readonly #ids = new Map<string, number>();

  /** A number for the prompt up to and with each part. */
  of({ parts }: Prompt): number[] {
    let last = -1;
    return parts.map(({ name, content }) => {
      // The name of a message's block counts, too: the same text in another message is another prompt.
      const text = `${last}\n${name}\n${content}`;
      last = this.#ids.get(text) ?? this.#ids.size;
      this.#ids.set(text, last);
      return last;
    });
  }
}

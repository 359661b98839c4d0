import type { JsonObject } from "@tau-agent/rpc-protocol/plain";
import { textTokens } from "./tokens.ts";

/** A block of a request, or a setting that affects the vendor's cache. */
export interface PromptPart {
  /** The path in the request, e.g. `tools[3]`, `messages[12].content[0]`. */
  readonly name: string;
  /** The content that a cache compares. */
  readonly content: string;
  /** 0 for a setting without text. */
  readonly tokens: number;
  /** A setting is not a block: marks and lookback ignore it. */
  readonly isSetting?: true;
  /** How long the cache keeps the prompt up to here, in ms; undefined if there is no mark. */
  readonly mark?: number | undefined;
}

/** A request as the vendor's cache sees it: its parts in the vendor's order. */
export interface Prompt {
  readonly parts: readonly PromptPart[];
  /** The index in `parts` at which the conversation begins. */
  readonly firstMessage: number;
  /** The key by which requests find each other's cached prompts. */
  readonly key: string;
  /** The maximum tokens of the reply. */
  readonly maxOutput: number | undefined;
  /** The requested lifetime of the cache, in ms. */
  readonly retention?: number | undefined;
}

/** A setting as a list to spread; empty if it is absent. */
export function setting(name: string, value: unknown, tokens = 0): PromptPart[] {
  if (value === undefined) return [];
  return [{ name, content: JSON.stringify(value), tokens, isSetting: true }];
}

/** A block without its cache marks, as text. */
export function withoutMark(block: JsonObject): string {
  return JSON.stringify(block, (name, value) => (marks.has(name) ? undefined : value));
}

const marks: ReadonlySet<string> = new Set(["cache_control", "prompt_cache_breakpoint"]);

/** The tokens of a value sent as JSON; 0 if it is absent. */
export function jsonTokens(value: unknown): number {
  return value === undefined ? 0 : textTokens(JSON.stringify(value));
}

/** The tokens of the parts up to and including each part. */
export function cumulativeTokens({ parts }: Prompt): number[] {
  let sum = 0;
  return parts.map(({ tokens }) => {
    sum += tokens;
    return sum;
  });
}

/** Assigns equal numbers to equal prefixes of prompts. */
export class PrefixIds {
  readonly #ids = new Map<string, number>();

  /** A number for the prompt up to and including each part. */
  of({ parts }: Prompt): number[] {
    let last = -1;
    return parts.map(({ name, content }) => {
      // Includes the name of the block: the same text in another message is a different prompt.
      const text = `${last}\n${name}\n${content}`;
      last = this.#ids.get(text) ?? this.#ids.size;
      this.#ids.set(text, last);
      return last;
    });
  }
}

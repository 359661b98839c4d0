import type { Model } from "@tau-agent/rpc-protocol/messages";
import type { ProviderError } from "../errors.ts";
import type { StreamOptions } from "../provider.ts";
import { outputLimit } from "./output-limit.ts";

/** If less room is left, the conversation is too long and a retry is pointless. */
const leastRoom = 256;
/** Subtracted from the room that the vendor's numbers leave, because some are rounded. */
const slack = 16;

/**
 * An output limit that fits, for a refusal because input and output limit together exceed the window, if the vendor's
 * message contains the numbers. Undefined for every other refusal, including one because the input alone is too long.
 *
 * @param options as the request was encoded with
 */
export function fittingLimit(
  { code, message, status }: Pick<ProviderError, "code" | "message" | "status">,
  model: Model,
  options: StreamOptions,
): number | undefined {
  if (code !== "context_overflow" && code !== "invalid_request") return undefined;
  const asked = outputLimit(model, options);
  const numbers = numbersOf(message).filter((number) => number !== status);
  const told =
    /\brequested\b/i.test(message) || numbers.includes(asked)
      ? readWindow(numbers, asked)
      : undefined;
  if (told === undefined) return undefined;
  const limit = told.window - told.input - slack;
  return limit >= leastRoom && limit < asked ? limit : undefined;
}

/** The distinct numbers in a text, with or without thousands separators, largest first. */
function numbersOf(text: string): number[] {
  const found = text.match(/(?<![\w.,])(?:\d{1,3}(?:,\d{3})+|\d+)(?![\w]|,\d|\.\d)/g) ?? [];
  const numbers = found.map((digits) => Number(digits.replaceAll(",", "")));
  return [...new Set(numbers)].toSorted((a, b) => b - a);
}

/**
 * Finds window and input among the numbers of a refusal. Vendors phrase it differently, but always include the window,
 * and either the input or the sum of input and output limit. The requested output limit tells them apart.
 *
 * @param numbers largest first
 */
function readWindow(
  numbers: readonly number[],
  asked: number,
): { window: number; input: number } | undefined {
  const others = numbers.filter((number) => number !== asked);
  const isInput = (number: number, window: number) => number > 0 && number < window;
  // A sum appears without the output limit, with the input, or with the parts of the input.
  for (const [at, total] of others.entries()) {
    const window = others[at + 1];
    if (window === undefined || !isInput(total - asked, window)) continue;
    const input = total - asked;
    const parts = others.slice(at + 2);
    const sum = parts.reduce((count, part) => count + part, 0);
    if (!numbers.includes(asked) || parts.includes(input) || sum === input) {
      return { window, input };
    }
  }
  if (!numbers.includes(asked)) return undefined;
  for (const window of others) {
    const input = others.find((number) => isInput(number, window) && number + asked > window);
    if (input !== undefined) return { window, input };
  }
  return undefined;
}

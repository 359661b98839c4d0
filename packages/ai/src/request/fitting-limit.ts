import type { Model } from "@tau-agent/rpc-protocol/messages";
import type { ProviderError } from "../errors.ts";
import type { StreamOptions } from "../provider.ts";
import { outputLimit } from "./output-limit.ts";

/** Less room than this is not worth another attempt: the conversation is too long. */
const leastRoom = 256;
/** Kept free of what the vendor's numbers leave, as some of them are rounded. */
const slack = 16;

/**
 * The output limit that fits, where a vendor refuses a request because input and output limit together
 * exceed the window and names its numbers; undefined for every other refusal, also where the input
 * alone is too long.
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

/** The distinct numbers of a text, with or without separators of thousands, largest first. */
function numbersOf(text: string): number[] {
  const found = text.match(/(?<![\w.,])(?:\d{1,3}(?:,\d{3})+|\d+)(?![\w]|,\d|\.\d)/g) ?? [];
  const numbers = found.map((digits) => Number(digits.replaceAll(",", "")));
  return [...new Set(numbers)].toSorted((a, b) => b - a);
}

/**
 * Finds window and input among the numbers of a refusal. Vendors word it in many ways, but always
 * name the window, and the input or the total of input and output limit. Which number is which follows
 * from the output limit that was asked for.
 *
 * @param numbers largest first
 */
function readWindow(
  numbers: readonly number[],
  asked: number,
): { window: number; input: number } | undefined {
  const others = numbers.filter((number) => number !== asked);
  const isInput = (number: number, window: number) => number > 0 && number < window;
  // A total comes without the output limit, with the input, or with the parts of the input.
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

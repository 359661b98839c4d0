import { checkOptions, oneOf, required, text } from "@tau-agent/system";

const checks = { text: required(text), streamingBehavior: oneOf(["steer", "followUp"]) };

/**
 * Checks the arguments of a prompt.
 *
 * @throws {SessionError} `invalid_option`
 */
export function checkPrompt(given: unknown, options: object): void {
  checkOptions(options, {});
  const { streamingBehavior } = options as { readonly streamingBehavior?: unknown };
  checkOptions({ text: given, streamingBehavior }, checks);
}

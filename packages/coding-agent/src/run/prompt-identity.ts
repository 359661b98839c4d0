import { SessionError } from "@tau-agent/rpc-protocol/plain";
import { randomHex } from "@tau-agent/system";
import type { PromptOptions } from "./prompt-options.ts";
import type { PromptIdentity } from "./prompt-tracker.ts";

/**
 * The identity of a prompt: its ids, and what its sender asks for.
 *
 * @throws {SessionError} `invalid_option`
 */
export function identityOf(
  { id, promptId, traceparent }: Pick<PromptOptions, "id" | "promptId" | "traceparent">,
  isAnnounced: boolean,
): PromptIdentity {
  if (promptId !== undefined && !/^[A-Za-z0-9_-]{1,128}$/.test(promptId)) {
    const reason = "expected 1 to 128 letters, digits, _ and -";
    throw new SessionError("invalid_option", { option: "promptId", reason });
  }
  return { id, promptId: promptId ?? randomHex(8), isAnnounced, traceparent };
}

/** Adds the answer that a prompt asks for. The code that checks answers is loaded with the first schema. */
export async function askingFor(
  prompt: PromptIdentity,
  { outputSchema }: PromptOptions,
): Promise<PromptIdentity> {
  if (outputSchema === undefined) return prompt;
  const [{ readOutputSchema }, { createOutputAnswer }] = await Promise.all([
    import("@tau-agent/system/output-schema"),
    import("@tau-agent/system/output-answer"),
  ]);
  return { ...prompt, answer: createOutputAnswer(await readOutputSchema(outputSchema)) };
}

import type { PromptResult } from "@tau-agent/rpc-protocol/messages";
import { type Conversation, lastCalls } from "@tau-agent/sessions/log";
import { type OpenOutputs, outputReminder } from "./open-outputs.ts";
import type { PromptOrigins } from "./prompt-origins.ts";
import type { PromptIdentity, PromptTracker } from "./prompt-tracker.ts";
import type { RunDriver } from "./run-driver.ts";
import type { StepLimits } from "./step-limits.ts";
import type { Survival } from "./survival.ts";
import { cutReply, hasEnded, latestPrompt } from "./unfinished-prompt.ts";

interface Parts {
  readonly conversation: Pick<Conversation, "log" | "messages" | "drop" | "resumeCalls">;
  readonly driver: RunDriver;
  readonly origins: PromptOrigins;
  readonly outputs: OpenOutputs;
  readonly survival?: Survival | undefined;
  readonly limits: Pick<StepLimits, "pausedPromptId">;
}

/**
 * Continues a prompt whose run ended with its host.
 *
 * @returns the pending result; undefined if there is nothing to continue
 */
export function resumePrompt(
  prompt: PromptIdentity,
  prompts: PromptTracker,
  { conversation, driver, origins, outputs, survival, limits }: Parts,
): Promise<PromptResult> | undefined {
  const { promptId, answer } = prompt;
  const isPaused = limits.pausedPromptId === promptId;
  const messages = latestPrompt(conversation.log, promptId);
  // A repeated question may have restarted the run.
  const isOther = driver.isBusy && origins.current !== promptId;
  if (messages === undefined || isOther) return undefined;
  const problem = answer?.replay(messages);
  // An answer may also end a run right after a call; an invalid answer is requested again.
  const isOver = hasEnded(messages) && problem === undefined;
  if (isOver || answer?.isClosed === true) return undefined;
  if (answer !== undefined) outputs.add(promptId, answer);
  const result = prompts.takeUp(messages, prompt);
  outputs.noteDelivery(promptId);
  if (driver.isBusy) return result;
  conversation.drop(cutReply(conversation.messages));
  origins.continueRun(promptId);
  const last = lastCalls(conversation.log);
  // A call has no result if its host died, or if the prompt was paused before the call began.
  const isLeft = (last?.open.length ?? 0) > 0 && (survival !== undefined || isPaused);
  const reply =
    isLeft && last !== undefined ? { message: last.message, calls: last.open } : undefined;
  if (reply === undefined) driver.start(problem === undefined ? [] : [outputReminder(problem)]);
  else {
    conversation.resumeCalls();
    driver.resume(reply, Promise.resolve());
  }
  return result;
}

/** Continues a run that another host began; this host announces the result of its prompt. */
export function continuePrompt(
  promptId: string | undefined,
  prompts: PromptTracker,
  { conversation, origins }: Pick<Parts, "conversation" | "origins">,
): void {
  origins.continueRun(promptId);
  const messages = promptId === undefined ? undefined : latestPrompt(conversation.log, promptId);
  if (promptId === undefined || messages === undefined) return;
  const identity = { promptId, id: undefined, isAnnounced: true, isUnclaimed: true };
  void prompts.takeUp(messages, identity);
}

import type { Conversation, SessionLogView } from "@tau-agent/sessions/log";
import { branchPrompts } from "./branch-prompts.ts";
import type { ProblemReport } from "./problem-report.ts";
import type { PromptIntake } from "./prompt-intake.ts";
import { hasEnded } from "./unfinished-prompt.ts";

interface Parts {
  readonly conversation: Pick<Conversation, "log">;
  readonly intake: PromptIntake;
  readonly problems: Pick<ProblemReport, "add">;
}

/** The latest prompt of a branch, if its run has not ended. */
export function unfinishedPromptId(log: Pick<SessionLogView, "tree">): string | undefined {
  const { value: latest } = branchPrompts(log).next();
  return latest === undefined || hasEnded(latest.messages) ? undefined : latest.promptId;
}

/** Continues the prompt whose host died, once a client can listen; for `resume: "auto"`. */
export function resumeLatest(
  { conversation, intake, problems }: Parts,
  ready: Promise<void> = new Promise((resolve) => setImmediate(resolve)),
): void {
  const promptId = unfinishedPromptId(conversation.log);
  if (promptId === undefined) return;
  // The prompt's text is already in the log.
  const resumed = ready.then(() => intake.submit("resume", { promptId, resume: true }));
  resumed.catch((error: unknown) => problems.add(error));
}

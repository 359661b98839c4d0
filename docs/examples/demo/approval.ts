/** A call that needs an approval: the host asks, this program answers, and the model reads why. */
import type { ApprovalRequest, Approve, RpcClient } from "@tau-agent/rpc-client";
import { CLEANING_PROMPT } from "./cleaning.ts";
import { fact, heading } from "./screen.ts";
import type { Stage } from "./stage.ts";

const RUN_LIMIT_MS = 5 * 60_000;
const THINKING_MS = 900;

/** The host asks before it runs what does more than look, and is refused. */
export async function showApproval(client: RpcClient): Promise<void> {
  heading("A command that may not run without a question");
  fact("Prompt", CLEANING_PROMPT);
  await client.setPermissions({ mode: "ask" });
  await client.promptAndWait(CLEANING_PROMPT, { timeoutMs: RUN_LIMIT_MS });
  await client.setPermissions({ mode: "all" });
}

/** Answers instead of a person: looking is fine, everything else is not. */
export function decideOn(stage: Stage): Approve {
  return async (request) => {
    fact("Question", request.title);
    await stage.pause(THINKING_MS);
    if (onlyLooks(request)) {
      fact("Answer", "yes");
      return { decision: "allow" };
    }
    const message = "the tests are still needed";
    fact("Answer", `no, ${message}`);
    return { decision: "deny", message };
  };
}

function onlyLooks({ parts = [] }: ApprovalRequest): boolean {
  return parts.length > 0 && parts.every(({ text }) => /^(ls|git status)( |$)/.test(text));
}

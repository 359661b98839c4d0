/** A call that needs an approval: the host asks, this program answers, and the model reads why. */
import {
  type ApprovalRequest,
  type Approve,
  type RpcClient,
  RpcError,
} from "@tau-agent/rpc-client";
import { CLEANING_PROMPT } from "./cleaning.ts";
import { fact, heading } from "./screen.ts";

const RUN_LIMIT_MS = 5 * 60_000;

export async function showFourthAct(client: RpcClient): Promise<void> {
  heading("A command that may not run without a question");
  fact("Prompt", CLEANING_PROMPT);
  try {
    await client.setPermissions({ mode: "ask" });
    await client.promptAndWait(CLEANING_PROMPT, { timeoutMs: RUN_LIMIT_MS });
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    fact("Refused", error.message);
  }
}

/** Answers instead of a person: looking is fine, everything else is not. */
export const decide: Approve = (request) => {
  fact("Question", request.title);
  if (onlyLooks(request)) {
    fact("Answer", "yes");
    return { decision: "allow" };
  }
  const message = "the tests are still needed";
  fact("Answer", `no, ${message}`);
  return { decision: "deny", message };
};

function onlyLooks({ parts = [] }: ApprovalRequest): boolean {
  return parts.length > 0 && parts.every(({ text }) => /^(ls|git status)( |$)/.test(text));
}

/** What else a session can do once the work is done: export as a page, compact, fork. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type RpcClient, RpcError } from "@tau-agent/rpc-client";
import { fact, heading } from "./screen.ts";

const SHOWN_SUMMARY_LINES = 4;
const RUN_LIMIT_MS = 5 * 60_000;
/** What the model is asked about the part that has become a summary. */
export const RECALL_PROMPT = "What was the cause of the failure, in one sentence?";

/** Exports the session as a page. */
export async function showPage(client: RpcClient, folder: string): Promise<void> {
  heading("The session as a page");
  const { path } = await client.exportHtml(join(folder, "session.html"));
  fact("Page", pathToFileURL(path).href);
}

/** Makes the conversation shorter, asks about what is no longer in it, and shows what that saved. */
export async function showShortening(client: RpcClient): Promise<void> {
  heading("The conversation made shorter, and still remembered");
  const { messageCount } = await client.getState();
  try {
    const { summary, tokensBefore } = await client.compact("the cause and the change");
    fact("Before", `${grouped(tokensBefore)} tokens in ${messageCount} messages`);
    const lines = summary.split("\n").filter((line) => /^- \[x\] /.test(line));
    const shown = lines.slice(0, SHOWN_SUMMARY_LINES).map((line) => line.replace("[x] ", ""));
    fact("Summary", shown.length > 0 ? shown.join("\n") : summary);
    const { messages } = await client.getMessages();
    const kept = messages.filter(({ role }) => role !== "compactionSummary").length;
    fact("Kept", `the last ${kept} messages word for word; all ${messageCount} stay in the file`);
    await recall(client, tokensBefore);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    // With a real model's settings a conversation may be too short to compact; show that, too.
    fact("Refused", error.message);
  }
}

/** Only a reply tells how many tokens the shorter conversation has. */
async function recall(client: RpcClient, before: number): Promise<void> {
  fact("Prompt", RECALL_PROMPT);
  await client.promptAndWait(RECALL_PROMPT, { timeoutMs: RUN_LIMIT_MS });
  const { contextUsage } = await client.getSessionStats();
  const after = contextUsage?.tokens;
  if (after == null) return;
  const share = Math.round((100 * (before - after)) / before);
  fact("After", `${grouped(after)} tokens, so each request from now on has ${share} % fewer`);
}

/** Begins another session with the conversation up to just before the last prompt. */
export async function showFork(client: RpcClient): Promise<void> {
  const { messages } = await client.getForkMessages();
  const last = messages.at(-1);
  if (last === undefined) return fact("Fork", "no user message is left on this branch");
  await client.fork(last.entryId);
  const { sessionFile, messageCount } = await client.getState();
  fact("Fork", `a new session with ${messageCount} messages, all before the last prompt`);
  fact("File", `${sessionFile} (written with its first prompt)`);
}

function grouped(count: number): string {
  return count.toLocaleString("en").replaceAll(",", " ");
}

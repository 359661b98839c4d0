/** What else a session can do once the work is done: compact, fork, export as a page. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type RpcClient, RpcError } from "@tau-agent/rpc-client";
import { fact, heading, MAX_COLUMNS } from "./screen.ts";

const SHOWN_SUMMARY_LINES = 3;

/** Exports the session as a page, then makes the conversation shorter. */
export async function showPageAndSummary(client: RpcClient, folder: string): Promise<void> {
  heading("The session as a page, and its conversation made shorter");
  const { path } = await client.exportHtml(join(folder, "session.html"));
  fact("Page", pathToFileURL(path).href);
  try {
    const { summary, tokensBefore } = await client.compact("the cause and the change");
    fact("Before", `${tokensBefore} tokens`);
    const lines = summary.split("\n").filter((line) => /^- /.test(line));
    for (const line of lines.slice(0, SHOWN_SUMMARY_LINES))
      fact("Summary", line.slice(0, MAX_COLUMNS));
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    // With a real model's settings a conversation may be too short to compact; show that, too.
    fact("Refused", error.message);
  }
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

/** What else a session can do once the work is done: export as a page, compact, fork. */
import { join } from "node:path";
import { type RpcClient, RpcError } from "@tau-agent/rpc-client";
import { fact, heading } from "./screen.ts";

const SHOWN_SUMMARY_LINES = 6;

export async function showSecondAct(client: RpcClient, folder: string): Promise<void> {
  heading("The session as a page");
  const { path } = await client.exportHtml(join(folder, "session.html"));
  fact("Page", path);
  heading("The conversation made shorter");
  await compact(client);
  heading("A fork, from before the prompt");
  await fork(client);
}

async function compact(client: RpcClient): Promise<void> {
  try {
    const { summary, tokensBefore } = await client.compact("the cause and the change");
    const { contextUsage } = await client.getSessionStats();
    const tokens = contextUsage?.tokens ?? "not counted before the next reply";
    fact("Before", `${tokensBefore} tokens`);
    fact("After", String(tokens));
    const lines = summary.split("\n").filter((line) => line.trim() !== "");
    for (const line of lines.slice(0, SHOWN_SUMMARY_LINES)) console.log(`  ${line}`);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    // With a real model's settings a conversation may be too short to compact; show that, too.
    fact("Refused", error.message);
  }
}

async function fork(client: RpcClient): Promise<void> {
  const { sessionFile: before } = await client.getState();
  const { messages } = await client.getForkMessages();
  const [first] = messages;
  if (first === undefined) return fact("Nothing", "no user message is left on this branch");
  const { text } = await client.fork(first.entryId);
  const { sessionFile, messageCount } = await client.getState();
  fact("Message", text);
  fact("Fork", `${sessionFile} (${messageCount} messages; written with its first prompt)`);
  fact("Kept", before ?? "nothing on disk");
}

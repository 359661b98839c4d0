// A bot that keeps one session per thread: node docs/examples/bot.ts
import { mkdtempSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type AgentSession, createAgentSession } from "@tau-agent/coding-agent";

/** Where conversations are kept: a thread goes on after the bot was restarted. */
const folder = process.env.BOT_FOLDER ?? mkdtempSync(join(tmpdir(), "tau-bot-"));
const open = new Map<string, Promise<AgentSession>>();

function sessionOf(thread: string): Promise<AgentSession> {
  const known = open.get(thread);
  if (known !== undefined) return known;
  const session = createAgentSession({
    cwd: process.cwd(),
    agentDirectory: join(folder, "agent"),
    // A folder per thread, whose latest session goes on.
    sessionDirectory: join(folder, "threads", encodeURIComponent(thread)),
    session: { kind: "latest" },
    // For a real model, use `environment: process.env, model: "sonnet"` instead.
    provider: "scripted",
    permissions: { mode: "readOnly" },
  });
  open.set(thread, session);
  return session;
}

/** A message of the platform's webhook; the answer is what the bot posts into the thread. */
const server = createServer(async (request, response) => {
  const { thread, message } = JSON.parse(await text(request)) as Record<string, string>;
  const session = await sessionOf(thread ?? "");
  // Another message of the thread, while the first is answered, is answered after it.
  const result = await session.prompt(message ?? "", {
    streamingBehavior: "followUp",
    // What people write to a bot is not a command of its owner.
    verbatim: true,
  });
  const answer = result.status === "error" ? `That failed: ${result.error}` : result.text;
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ thread, answer, messages: session.messages.length }));
});
server.listen(Number(process.env.PORT ?? 8300), "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${(server.address() as { port: number }).port}`);
});

// A chat in the browser, with a session per user: node docs/examples/web-chat.ts
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type AgentMessage,
  type AgentSession,
  createAgentSession,
  type SessionEvent,
} from "@tau-agent/coding-agent";

const page = readFileSync(join(import.meta.dirname, "web-chat.html"));
/** Where conversations are kept: a user's goes on after the server was restarted. */
const folder = process.env.CHAT_FOLDER ?? join(tmpdir(), "tau-web-chat");

type Message = { readonly type: string; readonly [member: string]: unknown };

/** One user: a session, the pages that show it, and the questions that wait for a button. */
class Chat {
  readonly pages = new Set<ServerResponse>();
  readonly #user: string;
  readonly #questions = new Map<string, { title: string; answer: (isAllowed: boolean) => void }>();
  #session: Promise<AgentSession> | undefined;

  constructor(user: string) {
    this.#user = user;
  }

  async prompt(text: string): Promise<void> {
    try {
      const session = await this.#open();
      this.#send({ type: "user", text });
      // During a run, another message steers it.
      const { status, error } = await session.prompt(text, { streamingBehavior: "steer" });
      this.#send({ type: "end", status, error });
    } catch (error) {
      // Not even begun, for want of a model for example.
      this.#send({ type: "end", status: "refused", error: String(error) });
    }
  }

  async cancel(): Promise<void> {
    const session = await this.#open();
    // A queued message would start once the run has stopped.
    await session.clearQueue();
    await session.abort();
  }

  #open(): Promise<AgentSession> {
    this.#session ??= this.#start().catch((error: unknown) => {
      this.#session = undefined;
      throw error;
    });
    return this.#session;
  }

  async #start(): Promise<AgentSession> {
    const session = await createAgentSession({
      cwd: process.cwd(),
      // The user's conversation, if there is one.
      session: { kind: "id", id: this.#user },
      sessionDirectory: folder,
      // For a real model, use `environment: process.env, findLocalServers: true` instead of these two.
      provider: "scripted",
      model: `${import.meta.dirname}/web-chat.json`,
      // Without `timeoutMs: 0`, a question is denied after five minutes.
      permissions: { mode: "ask", timeoutMs: 0 },
      approve: ({ id, title }, { signal }) => this.#ask(id, title, signal),
    });
    session.subscribe((event) => this.#forward(event, session));
    return session;
  }

  answer(id: string, isAllowed: boolean): void {
    this.#questions.get(id)?.answer(isAllowed);
  }

  /** Shows a page the conversation so far, also one that was reloaded. */
  async show(response: ServerResponse): Promise<void> {
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    response.write(": connected\n\n");
    response.on("close", () => this.pages.delete(response));
    try {
      const { models, stats, messages, diagnostics } = await this.#open();
      write(response, { type: "session", model: models.model?.name ?? "none", cost: stats.cost });
      for (const { message } of diagnostics) write(response, { type: "note", text: message });
      for (const message of messages.flatMap(shown)) write(response, message);
    } catch (error) {
      write(response, { type: "end", status: "refused", error: String(error) });
    }
    for (const [id, { title }] of this.#questions) write(response, { type: "question", id, title });
    if (!response.closed) this.pages.add(response);
  }

  #ask(id: string, title: string, signal: AbortSignal) {
    return new Promise<{ decision: "allow" | "deny" }>((resolve) => {
      const answer = (isAllowed: boolean): void => {
        if (!this.#questions.delete(id)) return;
        this.#send({ type: "closed", id });
        resolve({ decision: isAllowed ? "allow" : "deny" });
      };
      this.#questions.set(id, { title, answer });
      signal.addEventListener("abort", () => answer(false));
      this.#send({ type: "question", id, title });
    });
  }

  #forward(event: SessionEvent, { stats }: AgentSession): void {
    if (event.type === "message_start") this.#send({ type: "start" });
    else if (event.type === "tool_execution_start") {
      this.#send({ type: "tool", name: event.toolName });
    } else if (event.type === "message_update") {
      const step = event.assistantMessageEvent;
      if (step.type === "text_delta") this.#send({ type: "text", delta: step.delta });
    } else if (event.type === "agent_settled") this.#send({ type: "cost", cost: stats.cost });
  }

  #send(message: Message): void {
    for (const response of this.pages) write(response, message);
  }
}

/** A message of the conversation as the events that showed it. */
function shown(message: AgentMessage): Message[] {
  if (message.role === "user") {
    const { content } = message;
    if (typeof content === "string") return [{ type: "user", text: content }];
    return content.flatMap((block) =>
      block.type === "text" ? [{ type: "user", text: block.text }] : [],
    );
  }
  if (message.role !== "assistant") return [];
  return message.content.flatMap((block): Message[] => {
    if (block.type === "toolCall") return [{ type: "tool", name: block.name }];
    return block.type === "text" ? [{ type: "start" }, { type: "text", delta: block.text }] : [];
  });
}

function write(response: ServerResponse, message: Message): void {
  response.write(`data: ${JSON.stringify(message)}\n\n`);
}

const chats = new Map<string, Chat>();

/** A cookie alone proves nothing: a real server looks up the user who has logged in. */
function chatOf(request: IncomingMessage, response: ServerResponse): Chat {
  const known = /(?:^|; )user=([\da-f-]{36})(?:;|$)/.exec(request.headers.cookie ?? "")?.[1];
  const user = known ?? randomUUID();
  const cookie = `user=${user}; Max-Age=31536000; HttpOnly; SameSite=Strict; Path=/`;
  response.setHeader("set-cookie", cookie);
  const chat = chats.get(user) ?? new Chat(user);
  chats.set(user, chat);
  return chat;
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString("utf8"));
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chat = chatOf(request, response);
  const { method, url } = request;
  if (method === "GET" && url === "/events") return chat.show(response);
  if (method === "GET") {
    response.setHeader("content-type", "text/html; charset=utf-8");
    response.end(page);
    return;
  }
  const { text, id, isAllowed } = await bodyOf(request);
  if (url === "/prompt") void chat.prompt(String(text));
  else if (url === "/cancel") await chat.cancel();
  else if (url === "/answer") chat.answer(String(id), isAllowed === true);
  response.writeHead(204).end();
}

const server = createServer((request, response) => {
  serve(request, response).catch(() => response.writeHead(400).end());
});
server.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => {
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : "";
  console.log(`http://127.0.0.1:${port}`);
});

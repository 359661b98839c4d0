// A chat in the browser, with a session per user: node docs/examples/web-chat.ts
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import {
  type AgentMessage,
  type AgentSession,
  type ApprovalResult,
  createAgentSession,
  type QuestionResult,
  type SessionEvent,
} from "@tau-agent/coding-agent";

const page = readFileSync(join(import.meta.dirname, "web-chat.html"));
/** Where conversations are kept: a user's goes on after the server was restarted. */
const folder = process.env.CHAT_FOLDER ?? join(tmpdir(), "tau-web-chat");

type Message = { readonly type: string; readonly [member: string]: unknown };

/** One user: a session, the pages that show it, and the questions that wait for a button. */
class Chat {
  readonly pages = new Set<ServerResponse>();
  readonly questions = new Map<string, { shown: Message; answer: (choice: unknown) => void }>();
  readonly #user: string;
  #session: Promise<AgentSession> | undefined;
  /** The reply that is growing, for a page that is opened meanwhile. */
  #reply = "";

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
      session: { kind: "id", id: this.#user },
      sessionDirectory: folder,
      // For a real model, use `environment: process.env, findLocalServers: true` instead of these two.
      provider: "scripted",
      model: `${import.meta.dirname}/web-chat.json`,
      // Without `timeoutMs: 0`, a question is denied after five minutes.
      permissions: { mode: "ask", timeoutMs: 0 },
      approve: (request, { signal }) => this.#ask(request, signal, decisionOf),
      answerQuestions: (request, { signal }) =>
        this.#ask(request, signal, (answers) => ({ answers }) as QuestionResult),
    });
    session.subscribe((event) => this.#forward(event, session));
    return session;
  }

  /** Shows a page the conversation so far, also one that was reloaded. */
  async show(response: ServerResponse): Promise<void> {
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    response.write(": connected\n\n");
    response.on("close", () => this.pages.delete(response));
    try {
      const { models, stats, messages, diagnostics, isBusy } = await this.#open();
      write(response, { type: "session", model: models.model?.name ?? "none", cost: stats.cost });
      for (const { message } of diagnostics) write(response, { type: "note", text: message });
      for (const message of messages.flatMap(shown)) write(response, message);
      if (this.#reply !== "") write(response, { type: "text", delta: this.#reply });
      if (isBusy) write(response, { type: "busy" });
    } catch (error) {
      write(response, { type: "end", status: "refused", error: String(error) });
    }
    for (const { shown } of this.questions.values()) write(response, shown);
    if (!response.closed) this.pages.add(response);
  }

  #ask<T>(request: { id: string }, signal: AbortSignal, read: (choice: unknown) => T) {
    const shown = { type: "questions" in request ? "questions" : "question", ...request };
    return new Promise<T>((resolve) => {
      const answer = (choice: unknown): void => {
        if (!this.questions.delete(request.id)) return;
        this.#send({ type: "closed", id: request.id });
        resolve(read(choice));
      };
      this.questions.set(request.id, { shown, answer });
      signal.addEventListener("abort", () => answer("deny"));
      this.#send(shown);
    });
  }

  #forward(event: SessionEvent, { stats }: AgentSession): void {
    if (event.type === "message_start" || event.type === "message_end") {
      this.#reply = "";
      this.#send({ type: "start" });
    } else if (event.type === "tool_execution_start") {
      const { toolCallId: id, toolName: name, args: input } = event;
      this.#send({ type: "tool", id, name, input });
    } else if (event.type === "tool_execution_end") {
      this.#send({ type: "done", id: event.toolCallId, isError: event.isError });
    } else if (event.type === "message_update") {
      const step = event.assistantMessageEvent;
      if (step.type !== "text_delta") return;
      this.#reply += step.delta;
      this.#send({ type: "text", delta: step.delta });
    } else if (event.type === "agent_start") this.#send({ type: "busy" });
    else if (event.type === "agent_settled") this.#send({ type: "idle", cost: stats.cost });
  }

  #send(message: Message): void {
    for (const response of this.pages) write(response, message);
  }
}

function decisionOf(choice: unknown): ApprovalResult {
  if (choice === "allow") return { decision: "allow" };
  return choice === "always" ? { decision: "allow", scope: "session" } : { decision: "deny" };
}

/** A message of the conversation as the events that showed it. */
function shown(message: AgentMessage): Message[] {
  if (message.role === "toolResult") {
    return [{ type: "done", id: message.toolCallId, isError: message.isError }];
  }
  if (message.role !== "user" && message.role !== "assistant") return [];
  const { role, content } = message;
  if (typeof content === "string") return [{ type: role, text: content }];
  return content.flatMap((block): Message[] => {
    if (block.type === "text") return [{ type: role, text: block.text }];
    if (block.type !== "toolCall") return [];
    return [{ type: "tool", id: block.id, name: block.name, input: block.arguments }];
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
  response.setHeader("set-cookie", `user=${user}; Max-Age=31536000; HttpOnly; SameSite=Strict`);
  const chat = chats.get(user) ?? new Chat(user);
  chats.set(user, chat);
  return chat;
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chat = chatOf(request, response);
  const { method, url } = request;
  response.setHeader("content-type", "text/html; charset=utf-8");
  if (method === "GET") return url === "/events" ? chat.show(response) : void response.end(page);
  const { text, id, choice } = JSON.parse(await textOf(request));
  if (url === "/prompt") void chat.prompt(String(text));
  else if (url === "/cancel") await chat.cancel();
  else if (url === "/answer") chat.questions.get(String(id))?.answer(choice);
  response.writeHead(204).end();
}

const server = createServer((request, response) => {
  serve(request, response).catch(() => response.writeHead(400).end());
});
server.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});

// A chat in the browser, with a session per user: node docs/examples/web-chat.ts
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { fileURLToPath } from "node:url";
import { type AgentSession, createAgentSession, type SessionEvent } from "@tau-agent/coding-agent";

const page = readFileSync(new URL("web-chat.html", import.meta.url));
const scenario = fileURLToPath(new URL("scenarios/web-chat.json", import.meta.url));

type Message = { readonly type: string; readonly [member: string]: unknown };

/** One user: a session, the pages that show it, and the questions that wait for a button. */
class Chat {
  readonly pages = new Set<ServerResponse>();
  readonly #open = new Map<string, { title: string; answer: (isAllowed: boolean) => void }>();
  #session: Promise<AgentSession> | undefined;

  async prompt(text: string): Promise<void> {
    try {
      this.#session ??= this.#start();
      const session = await this.#session;
      // During a run, another message steers it.
      const { status, error } = await session.prompt(text, { streamingBehavior: "steer" });
      this.#send({ type: "end", status, error, cost: session.stats.cost });
    } catch (error) {
      // Not even begun, for want of a model for example.
      this.#send({ type: "end", status: "refused", error: String(error), cost: 0 });
    }
  }

  async cancel(): Promise<void> {
    await (await this.#session)?.abort();
  }

  async #start(): Promise<AgentSession> {
    const session = await createAgentSession({
      cwd: process.cwd(),
      session: { kind: "memory" },
      // For a real model, use `environment: process.env, findLocalServers: true` instead of these two.
      provider: "scripted",
      model: scenario,
      permissions: { mode: "ask" },
      approve: ({ id, title }, { signal }) => this.#ask(id, title, signal),
    });
    session.subscribe((event) => this.#forward(event));
    return session;
  }

  answer(id: string, isAllowed: boolean): void {
    this.#open.get(id)?.answer(isAllowed);
  }

  /** A page that comes later sees the open questions, too. */
  show(response: ServerResponse): void {
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    response.write(": connected\n\n");
    this.pages.add(response);
    response.on("close", () => this.pages.delete(response));
    for (const [id, { title }] of this.#open) write(response, { type: "question", id, title });
  }

  #ask(id: string, title: string, signal: AbortSignal) {
    return new Promise<{ decision: "allow" | "deny" }>((resolve) => {
      const answer = (isAllowed: boolean): void => {
        if (!this.#open.delete(id)) return;
        this.#send({ type: "closed", id });
        resolve({ decision: isAllowed ? "allow" : "deny" });
      };
      this.#open.set(id, { title, answer });
      signal.addEventListener("abort", () => answer(false));
      this.#send({ type: "question", id, title });
    });
  }

  #forward(event: SessionEvent): void {
    if (event.type === "message_start") this.#send({ type: "start" });
    else if (event.type === "tool_execution_start") {
      this.#send({ type: "tool", name: event.toolName });
    } else if (event.type === "message_update") {
      const step = event.assistantMessageEvent;
      if (step.type === "text_delta") this.#send({ type: "text", delta: step.delta });
    }
  }

  #send(message: Message): void {
    for (const response of this.pages) write(response, message);
  }
}

function write(response: ServerResponse, message: Message): void {
  response.write(`data: ${JSON.stringify(message)}\n\n`);
}

const chats = new Map<string, Chat>();

/** A cookie alone proves nothing: a real server looks up the user who has logged in. */
function chatOf(request: IncomingMessage, response: ServerResponse): Chat {
  const known = /(?:^|; )user=([\w-]+)/.exec(request.headers.cookie ?? "")?.[1];
  const user = known !== undefined && chats.has(known) ? known : randomUUID();
  response.setHeader("set-cookie", `user=${user}; HttpOnly; SameSite=Strict; Path=/`);
  const chat = chats.get(user) ?? new Chat();
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
server.listen(Number(process.env.PORT ?? 8080), "127.0.0.1", () => {
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : "";
  console.log(`http://127.0.0.1:${port}`);
});

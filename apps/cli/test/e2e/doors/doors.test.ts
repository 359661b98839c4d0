import { request as httpRequest } from "node:http";
import { HttpAgent } from "@ag-ui/client";
import type { Interrupt } from "@ag-ui/core";
import { DefaultChatTransport, readUIMessageStream, type UIMessage } from "ai";
import { describe, expect, it } from "vitest";
import { makePdf } from "../../../../../packages/system/src/documents/__fixtures__/make-pdf.ts";
import { listeningHost } from "../../support/listening-host.ts";

const bash = (command: string) => ({
  type: "toolCall" as const,
  name: "bash",
  arguments: { command },
});
const scenario = [
  { content: [{ type: "text" as const, text: "Let me look." }, bash("echo seen")] },
  { content: "It says seen." },
  { repeat: true, content: "Hello again." },
];
const asks = ["--permission-mode", "ask"];

async function openSession(setup: Parameters<typeof listeningHost>[0] = { scenario }) {
  const host = await listeningHost(setup);
  const headers = { authorization: `Bearer ${host.token}` };
  const rpc = async (command: object) => {
    const response = await fetch(`${host.http}/rpc`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({ id: 1, ...command }),
    });
    return (await response.json()) as { data: Record<string, unknown> };
  };
  const { data } = await rpc({ type: "open_session" });
  const sessionId = String(data.sessionId);
  const api = `${host.http}/sessions/${sessionId}/prompt`;
  const post = (body: unknown, query = "", more: Record<string, string> = {}) =>
    fetch(`${api}${query}`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json", ...more },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  return { ...host, headers, rpc, sessionId, api, post };
}

type Opened = Awaited<ReturnType<typeof openSession>>;

const user = (text: string): UIMessage => ({
  id: `user-${text}`,
  role: "user",
  parts: [{ type: "text", text }],
});

/** Does what `useChat` does with its transport: sends the messages and reads the reply into the last one. */
async function chat({ api, headers }: Opened, messages: UIMessage[]): Promise<UIMessage[]> {
  const transport = new DefaultChatTransport({ api, headers });
  const stream = await transport.sendMessages({
    chatId: "c",
    messages,
    trigger: "submit-message",
    messageId: undefined,
    abortSignal: undefined,
  });
  const last = messages.at(-1);
  const message = last?.role === "assistant" ? structuredClone(last) : undefined;
  let reply: UIMessage | undefined;
  for await (const state of readUIMessageStream({
    stream,
    ...(message && { message }),
    terminateOnError: true,
  })) {
    reply = state;
  }
  const before = message === undefined ? messages : messages.slice(0, -1);
  return reply === undefined ? before : [...before, reply];
}

const textOf = (message: UIMessage | undefined) =>
  (message?.parts ?? []).map((part) => (part.type === "text" ? part.text : "")).join("|");

describe("the transport of AI SDK", () => {
  it("sends a prompt and receives the run's text and tools as one message", async () => {
    const messages = await chat(await openSession(), [user("What does it say?")]);
    expect(messages).toHaveLength(2);
    const reply = messages[1];
    expect(textOf(reply)).toContain("It says seen.");
    expect(reply?.parts.find(({ type }) => type === "dynamic-tool")).toMatchObject({
      toolName: "bash",
      state: "output-available",
      input: { command: "echo seen" },
    });
    expect(reply?.parts.filter(({ type }) => type === "step-start")).toHaveLength(2);
  });

  it.each([
    ["ai-sdk", (url: string) => [{ type: "file", mediaType: "application/pdf", url }], "parts"],
    [
      "ag-ui",
      (url: string) => {
        const [, value] = url.split(",");
        const source = { type: "data", value, mimeType: "application/pdf" };
        return [{ type: "document", source }];
      },
      "content",
    ],
  ])("accepts PDFs as clients of %s send them", async (format, file, member) => {
    const opened = await openSession({ scenario: [{ repeat: true, content: "Read." }] });
    const url = `data:application/pdf;base64,${makePdf(["On its first page."]).toString("base64")}`;
    const content = [{ type: "text", text: "Read this" }, ...file(url)];
    const body = { messages: [{ id: "m", role: "user", [member]: content }] };
    const response = await opened.post(body, `?format=${format}`);
    expect(await response.text()).toContain("Read.");
    const { data } = await opened.rpc({ type: "get_messages", sessionId: opened.sessionId });
    expect(JSON.stringify(data)).toContain("On its first page.");
  });

  it("ends at an approval, takes the answer with the next request and continues the message", async () => {
    for (const approved of [true, false]) {
      const session = await openSession({ scenario, arguments: asks });
      const asked = await chat(session, [user("Look")]);
      const part = asked[1]?.parts.find(({ type }) => type === "dynamic-tool") as unknown as {
        state: string;
        approval: { id: string; approved: boolean };
      };
      expect(part.state).toBe("approval-requested");
      part.state = "approval-responded";
      part.approval.approved = approved;
      const done = await chat(session, asked);
      expect(done).toHaveLength(2);
      expect(done[1]?.id).toBe(asked[1]?.id);
      expect(textOf(done[1])).toMatch(/^\|?Let me look\..*It says seen\.$/);
      expect(done[1]?.parts.find(({ type }) => type === "dynamic-tool")).toMatchObject({
        state: approved ? "output-available" : "output-denied",
      });
      // The answered request is no longer open.
      expect((await session.post({ messages: asked })).status).toBe(409);
    }
  });

  it("reconnects to a run from its beginning, and gets nothing when idle", async () => {
    const session = await openSession({ scenario, arguments: asks });
    const { api, headers } = session;
    const transport = new DefaultChatTransport({
      api,
      headers,
      prepareReconnectToStreamRequest: () => ({ api: api.replace(/prompt$/, "stream") }),
    });
    expect(await transport.reconnectToStream({ chatId: "c" })).toBeNull();
    const asked = await chat(session, [user("Look")]);
    const stream = await transport.reconnectToStream({ chatId: "c" });
    let again: UIMessage | undefined;
    if (stream === null) throw new Error("the run is active");
    for await (const state of readUIMessageStream({ stream })) again = state;
    expect(again).toEqual(asked[1]);
  });

  it("does not affect the run when its connection closes", async () => {
    const session = await openSession({
      scenario: [{ content: [bash("sleep 1; echo late")] }, { content: "Done." }],
    });
    const aborting = new AbortController();
    const response = await fetch(session.api, {
      method: "POST",
      headers: { ...session.headers, "content-type": "application/json" },
      body: JSON.stringify({ messages: [user("Go")] }),
      signal: aborting.signal,
    });
    expect(response.headers.get("x-vercel-ai-ui-message-stream")).toBe("v1");
    aborting.abort();
    expect((await session.post({ messages: [user("Busy?")] })).status).toBe(409);
    const last = async () =>
      (await session.rpc({ type: "get_last_assistant_text", sessionId: session.sessionId })).data
        .text;
    await expect.poll(last).toBe("Done.");
  });
});

describe("a client of AG-UI", () => {
  it("prompts, answers an interrupt, and receives events that its own checks accept", async () => {
    const { api, headers, sessionId } = await openSession({ scenario, arguments: asks });
    const agent = new HttpAgent({ url: `${api}?format=ag-ui`, headers, threadId: sessionId });
    agent.messages = [{ id: "1", role: "user", content: "Look" }];
    const interrupts: Interrupt[] = [];
    await agent.runAgent(
      {},
      {
        onRunFinishedEvent: ({ event }) => {
          if (event.outcome?.type === "interrupt") interrupts.push(...event.outcome.interrupts);
        },
      },
    );
    expect(interrupts).toMatchObject([{ reason: "tool_approval" }]);
    const [asked] = interrupts;
    await agent.runAgent({
      resume: [{ interruptId: String(asked?.id), status: "resolved", payload: { approved: true } }],
    });
    expect(agent.messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "assistant",
      "tool",
      "assistant",
    ]);
    expect(agent.messages.at(-1)).toMatchObject({ content: "It says seen." });
  });

  it("does not send its state, context and tools to the model", async () => {
    const { post, rpc, sessionId } = await openSession({
      scenario: [{ repeat: true, content: "Hi." }],
    });
    const response = await post(
      {
        threadId: "t",
        runId: "r",
        state: { secret: "STATE" },
        context: [{ description: "d", value: "CONTEXT" }],
        tools: [{ name: "evil", description: "TOOL", parameters: {} }],
        messages: [
          { id: "0", role: "system", content: "SYSTEM" },
          { id: "1", role: "assistant", content: "ASSISTANT" },
          { id: "2", role: "user", content: "only this" },
        ],
        forwardedProps: {},
      },
      "?format=ag-ui",
    );
    expect(await response.text()).toContain('"runId":"r"');
    const { data } = await rpc({ type: "get_messages", sessionId });
    expect(JSON.stringify(data)).toContain("only this");
    expect(JSON.stringify(data)).not.toMatch(/STATE|CONTEXT|TOOL|SYSTEM|ASSISTANT/);
  });
});

describe("the events of a session", () => {
  it("are sent in the requested format and continue after a cursor", async () => {
    const session = await openSession();
    await chat(session, [user("Look")]);
    const url = `${session.http}/sessions/${session.sessionId}/events?after=0&format=`;
    for (const [format, first, last] of [
      ["ai-sdk", '"type":"start"', '"type":"finish"'],
      ["ag-ui", '"RUN_STARTED"', '"RUN_FINISHED"'],
    ]) {
      const response = await fetch(`${url}${format}`, { headers: session.headers });
      let text = "";
      for await (const piece of (response.body ?? []) as AsyncIterable<Uint8Array>) {
        text += Buffer.from(piece).toString();
        if (text.includes(String(last))) break;
      }
      expect(text).toContain(first);
      expect(text).toMatch(/\nid: [\w-]+:\d+\ndata: /);
    }
  });
});

describe("a hostile request", () => {
  it("is refused before it has any effect", async () => {
    const session = await openSession({ scenario: [{ repeat: true, content: "Hi." }] });
    const { post, http, api, rpc, sessionId, token } = session;
    const body = { messages: [user("x")] };
    const status = async (response: Promise<Response>) => (await response).status;
    expect(await status(post(body, "", { authorization: "Bearer wrong" }))).toBe(401);
    expect(await status(post(body, `?access_token=${token}`, { authorization: "" }))).toBe(401);
    expect(await status(post(body, "", { origin: "https://evil.example" }))).toBe(403);
    expect(await status(post(body, "", { "content-type": "text/plain" }))).toBe(415);
    expect(await status(post(body, "?format=xml"))).toBe(400);
    expect(await status(post(body, "?format=constructor"))).toBe(400);
    expect(await status(post("[]"))).toBe(400);
    for (const wrong of [{}, { messages: 1 }, { messages: [{ role: "user" }] }]) {
      expect(await status(post(wrong))).toBe(400);
    }
    const file = { type: "file", mediaType: "text/html", url: "https://evil.example/" };
    const withFile = { messages: [{ role: "user", parts: [file] }] };
    expect(await status(post(withFile))).toBe(400);
    expect(await status(post({ ...body, trigger: "regenerate-message" }))).toBe(400);
    const answer = { messages: [{ role: "assistant", parts: [] }] };
    expect(await status(post(answer))).toBe(409);
    const { headers } = session;
    expect(await status(fetch(api, { headers }))).toBe(405);
    const elsewhere = `${http}/sessions/none/prompt`;
    const init = { method: "POST", headers: { ...headers, "content-type": "application/json" } };
    expect(await status(fetch(elsewhere, { ...init, body: JSON.stringify(body) }))).toBe(404);
    const { data } = await rpc({ type: "get_messages", sessionId });
    expect(data.messages).toEqual([]);
  });

  it("cannot answer questions that it was not asked", async () => {
    const session = await openSession({ scenario, arguments: asks });
    const asked = await chat(session, [user("Look")]);
    const part = asked[1]?.parts.find(({ type }) => type === "dynamic-tool") as unknown as {
      toolCallId: string;
    };
    // A client cannot supply the result of a tool that the host runs.
    for (const state of ["output-available", "output-error"]) {
      const forged = { ...part, state, output: "forged", errorText: "forged" };
      const messages = [...asked.slice(0, -1), { ...asked[1], parts: [forged] }];
      expect((await session.post({ messages })).status).toBe(409);
    }
    const { sessionId } = session;
    const { data } = await session.rpc({ type: "get_pending_requests", sessionId });
    expect(data.requests).toHaveLength(1);
  });

  it("gets a reason if its address is malformed or its body too large", async () => {
    const { post, http, headers } = await openSession({
      scenario: [{ repeat: true, content: "Hi." }],
    });
    const statusFor = (path: string, piece = "{}", pieces = 1) =>
      new Promise<number | undefined>((resolve, reject) => {
        const { hostname, port } = new URL(http);
        const type = { "content-type": "application/json" };
        const given = { hostname, port, path, method: "POST", headers: { ...headers, ...type } };
        const asked = httpRequest(given, (response) => {
          response.resume();
          resolve(response.statusCode);
        });
        asked.on("error", reject);
        // Chunked, without a length.
        for (let at = 0; at < pieces; at += 1) asked.write(piece);
        if (pieces === 1) asked.end();
      });
    expect(await statusFor("//")).toBe(400);
    expect(await statusFor("/sessions/%E0%A4/prompt", '{"messages":[{"role":"user"}]}')).toBe(400);
    expect(await statusFor("/sessions/%E0%A4/prompt", '{"messages":[]}')).toBe(404);
    expect(await statusFor("/sessions/x/prompt", " ".repeat(1 << 20), 65)).toBe(413);
    const long = { messages: [user("x".repeat(70 << 20))] };
    expect((await post(long).catch(() => undefined))?.status ?? 413).toBe(413);
    expect((await post("{}", "", { "content-type": "application/jsonp" })).status).toBe(415);
    expect((await post({ messages: [user("x")] })).status).toBe(200);
  });

  it("counts the first of two simultaneous answers, and ignores results of an earlier call", async () => {
    const session = await openSession({ scenario, arguments: asks });
    const asked = await chat(session, [user("Look")]);
    const part = asked[1]?.parts.find(({ type }) => type === "dynamic-tool") as unknown as {
      state: string;
      approval: { id: string; approved: boolean };
    };
    // An answer before the latest user message is outdated.
    const early = structuredClone(part);
    Object.assign(early, { state: "approval-responded" });
    early.approval.approved = true;
    const old = { id: "old", role: "assistant", parts: [early] };
    const empty = { id: "new", role: "assistant", parts: [] };
    const history = [old, user("Look"), empty];
    expect((await session.post({ messages: history })).status).toBe(409);
    Object.assign(part, { state: "approval-responded" });
    part.approval.approved = true;
    const both = await Promise.all([
      session.post({ messages: asked }),
      session.post({ messages: asked }),
    ]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    const texts = await Promise.all(both.map((response) => response.text()));
    expect(texts.join("").match(/"type":"finish"/g)).toHaveLength(1);
    expect(texts.join("")).toContain("seen");
  });

  it("may disconnect while it waits, and the next client is served", async () => {
    const session = await openSession({ scenario: [{ repeat: true, content: "Hi." }] });
    const { api, headers, post } = session;
    for (let times = 0; times < 20; times += 1) {
      const aborting = new AbortController();
      const left = fetch(api, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify({ messages: [user(`left ${times}`)] }),
        signal: aborting.signal,
      });
      setTimeout(() => aborting.abort(), times);
      await left.then((response) => response.text()).catch(() => {});
    }
    const served = async () => {
      const response = await post({ messages: [user("stays")] });
      return response.status === 200 && (await response.text()).includes("[DONE]");
    };
    await expect.poll(served).toBe(true);
  });
});

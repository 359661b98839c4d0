import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { HarnessCapabilityUnsupportedError } from "@ai-sdk/harness";
import { HarnessAgent } from "@ai-sdk/harness/agent";
import { createJustBashSandbox } from "@ai-sdk/sandbox-just-bash";
import { Output, tool } from "ai";
import { expect, it, onTestFinished } from "vitest";
import * as z from "zod";
import { makePdf } from "../../system/src/documents/__fixtures__/make-pdf.ts";
import { createTauHarness } from "../src/index.ts";

const cliPath = fileURLToPath(new URL("../../../apps/cli/bin/tau.js", import.meta.url));
const call = (name: string, args: object) => ({ type: "toolCall" as const, name, arguments: args });

type AgentOptions = Omit<ConstructorParameters<typeof HarnessAgent>[0], "harness" | "sandbox">;

/** An agent with a scripted model, in a sandbox without a machine. */
function scripted(script: readonly object[], options: AgentOptions = {}) {
  const folder = mkdtempSync(join(tmpdir(), "tau-harness-test-"));
  const model = join(folder, "script.json");
  writeFileSync(model, JSON.stringify(script));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const env = { HOME: folder, PI_CODING_AGENT_DIR: join(folder, "agent") };
  const agent = new HarnessAgent({
    harness: createTauHarness({ cliPath, provider: "scripted", model, cwd: folder, env }),
    sandbox: createJustBashSandbox(),
    ...options,
  } as never);
  return { agent, folder };
}

it("prompts, runs tools in the sandbox and reports usage", async () => {
  const { agent } = scripted([
    {
      content: [
        { type: "text", text: "Let me look." },
        call("write", { path: "seen.txt", content: "seen\n" }),
        call("bash", { command: "cat seen.txt" }),
      ],
    },
    { content: "It says seen." },
  ]);
  const session = await agent.createSession();
  const result = await agent.stream({ session, prompt: "What does it say?" });
  const parts: { type: string }[] = [];
  for await (const part of result.fullStream) parts.push(part);
  expect(await result.text).toContain("It says seen.");
  const results = parts.filter(({ type }) => type === "tool-result");
  expect(JSON.stringify(results)).toContain("seen\\n");
  const types = parts.map(({ type }) => type);
  for (const type of ["tool-input-start", "tool-input-delta", "tool-input-end", "finish"]) {
    expect(types).toContain(type);
  }
  // The call itself shows what was written.
  expect(JSON.stringify(parts)).not.toContain("fileChange");
  const used = (await result.steps).map(({ usage }) => usage.outputTokens ?? 0);
  expect(used.every((tokens) => tokens > 0)).toBe(true);
  expect((await result.totalUsage).outputTokens).toBe(used.reduce((sum, tokens) => sum + tokens));
  await session.destroy();
});

it("runs the caller's tools and returns a structured reply", async () => {
  const { agent } = scripted(
    [{ content: [call("weather", { city: "Rome" })] }, { content: '{"degrees": 21}' }],
    {
      tools: {
        weather: tool({
          description: "The weather",
          inputSchema: z.object({ city: z.string() }),
          execute: ({ city }: { city: string }) => `21 degrees in ${city}`,
        }),
      },
      output: Output.object({ schema: z.object({ degrees: z.number() }) }),
    } as never,
  );
  const session = await agent.createSession();
  const result = await agent.generate({ session, prompt: "How warm is it?" });
  expect(result.output).toEqual({ degrees: 21 });
  await session.destroy();
});

it("asks before built-in tools, and continues with the answer in another process", async () => {
  const { agent, folder } = scripted(
    [
      { content: [{ type: "text", text: "Let me look." }, call("bash", { command: "echo seen" })] },
      { content: "It says seen." },
    ],
    { permissionMode: "allow-reads" },
  );
  const session = await agent.createSession();
  const { sandboxSession } = Object(session) as { sandboxSession: unknown };
  const first = await agent.stream({ session, prompt: "Look" });
  const parts: { type: string }[] = [];
  for await (const part of first.fullStream) parts.push(part);
  const asked = parts.find(({ type }) => type === "tool-approval-request");
  expect(asked).toBeDefined();
  expect(folder).not.toBe("");
  expect(sandboxSession).toBeDefined();
  const state = await session.suspendTurn();
  // Another process has only this text.
  const stored = JSON.parse(JSON.stringify(state)) as typeof state;
  const again = await agent.createSession({
    sessionId: session.sessionId,
    continueFrom: stored,
    sandboxSession: sandboxSession as never,
  });
  const { approvalId } = asked as unknown as { approvalId: string };
  const rest = await agent.continueStream({
    session: again,
    toolApprovalContinuations: [{ approvalId, approved: true }],
  } as never);
  const after: unknown[] = [];
  for await (const part of rest.fullStream) after.push(part);
  expect(JSON.stringify(after)).toContain("It says seen.");
  await again.destroy();
});

/** The session files of an agent. */
function storedIn(folder: string): string {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".jsonl"))
    .map((file) => readFileSync(join(folder, file), "utf8"))
    .join("");
}

/** Reads a turn to its end and approves everything. */
async function approveAll(
  agent: ReturnType<typeof scripted>["agent"],
  session: Awaited<ReturnType<typeof agent.createSession>>,
  prompt: string,
) {
  const parts: { type: string; toolCallId?: string; approvalId?: string }[] = [];
  let stream = await agent.stream({ session, prompt });
  for (;;) {
    const asked: string[] = [];
    for await (const part of stream.fullStream) {
      parts.push(part as never);
      if (part.type === "tool-approval-request") asked.push(part.approvalId);
    }
    if (asked.length === 0) return parts;
    stream = await agent.continueStream({
      session,
      toolApprovalContinuations: asked.map((approvalId) => ({ approvalId, approved: true })),
    } as never);
  }
}

it("completes turns of a model that reuses call ids, and gives each call its own result", async () => {
  const again = (name: string, args: object) => ({ ...call(name, args), id: "call_0" });
  const turn = [
    { content: [again("weather", { city: "Rome" })] },
    { content: [again("bash", { command: "echo one" })] },
    { content: [again("weather", { city: "Oslo" })] },
    { content: [again("bash", { command: "echo two" })] },
    { content: "Done." },
  ];
  const asked: string[] = [];
  const weather = tool({
    description: "The weather",
    inputSchema: z.object({ city: z.string() }),
    execute: ({ city }: { city: string }) => {
      asked.push(city);
      return `21 degrees in ${city}`;
    },
  });
  const { agent, folder } = scripted([...turn, ...turn], {
    permissionMode: "allow-reads",
    tools: { weather },
  } as never);
  const session = await agent.createSession();
  for (const prompt of ["First", "Second"]) {
    const parts = await approveAll(agent, session, prompt);
    expect(JSON.stringify(parts)).toContain("Done.");
    const calls = parts.filter(({ type }) => type === "tool-call");
    expect(new Set(calls.map(({ toolCallId }) => toolCallId)).size).toBe(4);
  }
  expect(asked).toEqual(["Rome", "Oslo", "Rome", "Oslo"]);
  const results = [...storedIn(folder).matchAll(/21 degrees in (\w+)/g)].map(([, city]) => city);
  expect(results).toEqual(["Rome", "Oslo", "Rome", "Oslo"]);
  await session.destroy();
});

it("passes the model's question to the caller and returns the answer", async () => {
  const questions = [
    { question: "Which one?", options: [{ label: "red" }, { label: "blue", description: "sky" }] },
  ];
  const { agent } = scripted([
    { content: [call("ask_user", { questions })] },
    { content: "Blue it is." },
  ]);
  const session = await agent.createSession();
  const first = await agent.stream({ session, prompt: "Choose" });
  const parts: { type: string; toolName?: string; toolCallId?: string; input?: unknown }[] = [];
  for await (const part of first.fullStream) parts.push(part as never);
  const asked = parts.find(({ toolName }) => toolName === "askUserQuestions");
  expect(asked?.input).toMatchObject({ questions: [{ question: "Which one?" }] });
  const output = { action: "answered", answers: { 0: { optionIds: ["blue"] } } };
  const rest = await agent.continueStream({
    session,
    toolResultContinuations: [
      {
        type: "tool-result",
        toolCallId: asked?.toolCallId,
        toolName: "askUserQuestions",
        output: { type: "json", value: output },
      },
    ],
  } as never);
  const after: unknown[] = [];
  for await (const part of rest.fullStream) after.push(part);
  expect(JSON.stringify(after)).toContain("Blue it is.");
  await session.destroy();
});

it("loses nothing of a reply whose calls wait for answers one after the other", async () => {
  const answered = (name: string) =>
    tool({ description: name, inputSchema: z.object({ of: z.string() }) } as never);
  const questions = [{ question: "Sure?", options: [{ label: "yes" }, { label: "no" }] }];
  const { agent } = scripted(
    [
      {
        content: [
          call("first", { of: "one" }),
          call("bash", { command: "echo between" }),
          call("second", { of: "two" }),
          call("ask_user", { questions }),
          call("bash", { command: "echo after" }),
        ],
      },
      { content: "All done." },
    ],
    {
      permissionMode: "allow-reads",
      tools: { first: answered("first"), second: answered("second") },
    } as never,
  );
  const session = await agent.createSession();
  const parts: { type: string; toolName?: string; toolCallId?: string }[] = [];
  let stream = await agent.stream({ session, prompt: "Go" });
  for (let pauses = 0; pauses < 9; pauses++) {
    const answers: object[] = [];
    const approvals: object[] = [];
    for await (const part of stream.fullStream) {
      parts.push(part as never);
      if (part.type === "tool-approval-request") {
        approvals.push({ approvalId: part.approvalId, approved: true });
      } else if (part.type === "tool-call" && part.providerExecuted !== true) {
        const { toolCallId, toolName } = part;
        const value = { answers: { 0: { optionIds: ["yes"] } }, said: `answer to ${toolName}` };
        const output = { type: "json", value };
        answers.push({ type: "tool-result", toolCallId, toolName, output });
      }
    }
    if (answers.length + approvals.length === 0) break;
    stream = await agent.continueStream({
      session,
      toolResultContinuations: answers,
      toolApprovalContinuations: approvals,
    } as never);
  }
  const all = JSON.stringify(parts);
  const calls = parts.filter(({ type }) => type === "tool-call");
  // A call that needs approval is shown again in the stream that asks.
  const called = new Map(calls.map(({ toolCallId, toolName }) => [toolCallId, toolName]));
  expect([...called.values()]).toEqual(["first", "bash", "second", "bash", "askUserQuestions"]);
  for (const text of ["between\\n", "after\\n", "All done."]) expect(all).toContain(text);
  await session.destroy();
});

it("accepts a PDF, and an abort ends only its own turn", async () => {
  const text = Array.from({ length: 20 }, (_, at) => `word ${at}.`).join(" ");
  const { agent, folder } = scripted([
    { content: "Read." },
    { content: [{ type: "text", text, chunkSize: 10 }], delayMs: 50 },
    { content: [{ type: "text", text, chunkSize: 10 }], delayMs: 600_000 },
  ]);
  const session = await agent.createSession();
  const data = makePdf(["On the first page."]).toString("base64");
  const file = { type: "file", mediaType: "application/pdf", filename: "paper.pdf", data };
  const first = new AbortController();
  const prompt = [{ role: "user", content: [{ type: "text", text: "Read this" }, file] }];
  const { signal: abortSignal } = first;
  const read = await agent.generate({ session, prompt, abortSignal } as never);
  expect(read.text).toBe("Read.");
  expect(storedIn(folder)).toContain("On the first page.");
  const stream = await agent.stream({ session, prompt: "Count" });
  // Like the signal of a request that has ended.
  first.abort();
  expect(await stream.text).toBe(text);
  const last = new AbortController();
  const slow = await agent.stream({ session, prompt: "Slowly", abortSignal: last.signal });
  const types: string[] = [];
  for await (const { type } of slow.fullStream) {
    types.push(type);
    last.abort();
  }
  expect(types).toContain("abort");
  await session.destroy();
});

it("reports what it does not support", async () => {
  const harness = createTauHarness();
  const start = { sessionId: "s", sessionWorkDir: "/", headers: { a: "b" } };
  await expect(harness.doStart(start as never)).rejects.toThrow(HarnessCapabilityUnsupportedError);
});

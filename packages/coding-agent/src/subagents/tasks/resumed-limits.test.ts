import { existsSync } from "node:fs";
import { join } from "node:path";
import { type ScenarioFunction, toolCall, turn } from "@tau-agent/ai/testing";
import type { QuestionRequest } from "@tau-agent/rpc-protocol";
import { describe, expect, it } from "vitest";
import {
  createTestSession,
  placesIn,
  temporaryFolder,
} from "../../create/__fixtures__/test-session.ts";
import type { CreateAgentSessionOptions } from "../../create/options/session-options.ts";
import type { AgentSession } from "../../session/agent-session.ts";

const write = (path: string) => turn(toolCall("write", { path, content: "x\n" }));
const questions = [{ question: "Which?", options: [{ label: "This" }, { label: "That" }] }];

/** The subagent `one` writes the file named in its newest message, or asks a question. */
const scenario: ScenarioFunction = ({ messages }) => {
  const users = messages.filter(({ role }) => role === "user");
  const [first, last] = [users.at(0), users.at(-1)].map((message) => JSON.stringify(message));
  if (first?.includes("<one>") !== true) {
    const isFresh = messages.at(-1)?.role === "user";
    const [, resumed] = /resume (\w+)/.exec(last ?? "") ?? [];
    if (!isFresh) return "parent done";
    const args = resumed
      ? { resume: "one", task: `write ${resumed}` }
      : { tasks: [{ id: "one", task: "<one> write a" }] };
    return turn(toolCall("task", args));
  }
  if (messages.at(-1)?.role !== "user") return "one is done";
  if (last?.includes("ask")) return turn(toolCall("ask_user", { questions }));
  const [, name = ""] = /write (\w+)/.exec(last ?? "") ?? [];
  return write(name);
};

async function start(options: Partial<CreateAgentSessionOptions> = {}) {
  const places = placesIn(temporaryFolder());
  const test = await createTestSession(scenario, { ...places, ...options });
  return { ...test, places, has: (name: string) => existsSync(join(places.cwd, name)) };
}

const lastResult = (session: AgentSession) =>
  JSON.stringify(session.messages.findLast(({ role }) => role === "toolResult"));

describe("a resumed subagent", () => {
  it("has its caller's current permissions", async () => {
    const { session, has } = await start();
    await session.prompt("go");
    expect(has("a")).toBe(true);
    session.permissions.set({ mode: "readOnly" });
    await session.prompt("resume b");
    expect(has("b")).toBe(false);
    expect(JSON.stringify((await session.subagents.messages("one")).messages)).toContain("Denied");
    session.permissions.set({ mode: "all" });
    await session.prompt("resume c");
    expect(has("c")).toBe(true);
  });

  it("has the next host's permissions, even if a client resumes it", async () => {
    const first = await start();
    await first.session.prompt("go");
    const path = first.session.log.path ?? "";
    await first.session.dispose();
    const asked: string[] = [];
    const { session } = await createTestSession(scenario, {
      ...first.places,
      session: { kind: "file", path },
      permissions: { mode: "ask" },
      approve: ({ toolName, agentId }) => {
        asked.push(`${agentId}: ${toolName}`);
        return { decision: "deny" };
      },
    });
    await session.subagents.resume("one", "write b");
    await expect.poll(() => asked).toEqual(["one: write"]);
    await expect.poll(async () => (await session.subagents.list())[0]?.status).toBe("completed");
    expect(first.has("b")).toBe(false);
  });

  it("gets the rest of the current budget, and its earlier use counts once", async () => {
    const { session, has } = await start();
    await session.prompt("go");
    const used = () => session.budget.snapshot;
    const { subagents } = used();
    session.budget.setLimits({ maxToolCalls: used().toolCalls + 1 });
    // Resuming is the single `task` call that was left.
    await session.prompt("resume b");
    expect(has("b")).toBe(false);
    expect(lastResult(session)).toContain("budget");
    session.budget.setLimits({ maxToolCalls: used().toolCalls + 2 });
    await session.prompt("resume c");
    expect(has("c")).toBe(true);
    expect(used().subagents).toBe(subagents);
  });

  it("gets its message after the question that an earlier host left open", async () => {
    const places = placesIn(temporaryFolder());
    const asked: QuestionRequest[] = [];
    const first = await createTestSession(scenario, {
      ...places,
      answerQuestions: (request) => {
        asked.push(request);
        return new Promise<never>(() => {});
      },
    });
    await first.session.prompt("go");
    await first.session.subagents.resume("one", "ask");
    await expect.poll(() => asked.length).toBe(1);
    const path = first.session.log.path ?? "";
    await first.session.dispose();
    const second = await createTestSession(scenario, {
      ...places,
      session: { kind: "file", path },
      answerQuestions: (request) => {
        asked.push(request);
        return { answers: [{ labels: ["That"] }] };
      },
    });
    const { session } = second;
    await session.subagents.resume("one", "write d");
    await expect.poll(() => existsSync(join(places.cwd, "d"))).toBe(true);
    await expect.poll(async () => (await session.subagents.list())[0]?.status).toBe("completed");
  });
});

import { readFileSync, writeFileSync } from "node:fs";
import { toolCall, turn } from "@tau-agent/ai/testing";
import type { QuestionRequest, QuestionResult } from "@tau-agent/rpc-protocol";
import { contentText } from "@tau-agent/rpc-protocol/plain";
import { SettingsStore } from "@tau-agent/system";
import { describe, expect, it } from "vitest";
import {
  createTestSession,
  placesIn,
  temporaryFolder,
} from "../create/__fixtures__/test-session.ts";
import type { CreateAgentSessionOptions } from "../create/options/session-options.ts";
import type { AgentSession } from "../session/agent-session.ts";
import { scenario } from "../subagents/task-tool/__fixtures__/task-call.ts";

const questions = [
  {
    question: "Which database?",
    header: "Database",
    options: [{ label: "SQLite", description: "one file" }, { label: "PostgreSQL" }],
  },
  {
    question: "Which checks?",
    options: [{ label: "Types" }, { label: "Tests" }],
    multiSelect: true,
  },
];
const ask = (of: unknown = questions) => turn(toolCall("ask_user", { questions: of }, { id: "q" }));
const answers = [{ labels: ["SQLite"] }, { labels: ["Types", "Tests"], text: "and a linter" }];

async function asking(
  answer: (request: QuestionRequest, signal: AbortSignal) => unknown,
  options: Partial<CreateAgentSessionOptions> = {},
) {
  const asked: QuestionRequest[] = [];
  const test = await createTestSession([ask(), "done"], {
    answerQuestions: (request, { signal }) => {
      asked.push(request);
      return answer(request, signal) as QuestionResult;
    },
    ...options,
  });
  return { ...test, asked };
}

function resultOf(session: AgentSession) {
  const found = session.messages.find((message) => message.role === "toolResult");
  if (found?.role !== "toolResult") throw new Error("no result");
  return { text: contentText(found.content), isError: found.isError, details: found.details };
}

const has = (session: AgentSession) => session.tools.active.some(({ name }) => name === "ask_user");
const forever = () => new Promise<never>(() => {});

describe("a question of the model to a person", () => {
  it("reaches the person, and the model gets labels and the person's own words", async () => {
    const test = await asking(() => ({ answers }));
    expect((await test.session.prompt("go")).status).toBe("completed");
    expect(test.asked).toMatchObject([{ questions, toolCallId: "q" }]);
    expect(test.asked[0]?.deadlineAt).toBeUndefined();
    expect(resultOf(test.session)).toEqual({
      text: "Which database?\n- SQLite\n\nWhich checks?\n- Types\n- Tests\nand a linter",
      isError: false,
      details: { answers },
    });
  });

  it.each([
    [() => ({ cancelled: true }), "the user does not answer"],
    [() => ({ answers: [{ labels: ["MySQL"] }, { labels: ["Types"] }] }), "the user does not"],
    [() => Promise.reject(new Error("broken")), "the user does not answer"],
  ])("is an error without a choice when it is not answered (%#)", async (answer, why) => {
    const test = await asking(answer);
    await test.session.prompt("go");
    const { text, isError } = resultOf(test.session);
    expect(isError).toBe(true);
    expect(text).toContain(why);
    expect(text).toContain("Nothing was chosen");
  });

  it("ends at its time limit, if there is one", async () => {
    const settings = SettingsStore.inMemory({ "questions.timeoutMs": 20 });
    const test = await asking(forever, { settings });
    await test.session.prompt("go");
    expect(resultOf(test.session)).toMatchObject({
      isError: true,
      details: { unanswered: { by: "timeout" } },
    });
  });

  it("is withdrawn on abort", async () => {
    const isOpen = Promise.withResolvers<AbortSignal>();
    const test = await asking((_, signal) => {
      isOpen.resolve(signal);
      return forever();
    });
    const ended = test.session.prompt("go");
    const signal = await isOpen.promise;
    await test.session.abort();
    expect(signal.aborted).toBe(true);
    expect((await ended).status).toBe("aborted");
    expect(test.session.requests.pending).toEqual([]);
  });

  it("needs two to four options with different labels", async () => {
    const same = [{ question: "?", options: [{ label: "a" }, { label: "a" }] }];
    const one = [{ question: "?", options: [{ label: "a" }] }];
    for (const [given, text] of [
      [same, "questions[0].options: a label is there twice."],
      [one, "questions[0].options: give two to four."],
      [[], "Ask one to four questions."],
    ] as const) {
      const test = await createTestSession([ask(given), "done"], {
        answerQuestions: () => ({ answers }),
      });
      await test.session.prompt("go");
      expect(resultOf(test.session)).toMatchObject({ text, isError: true });
    }
  });

  it("can be asked only if somebody can answer at the first request", async () => {
    const nobody = await createTestSession(["done", "done"]);
    await nobody.session.prompt("go");
    expect(has(nobody.session)).toBe(false);
    const somebody = await asking(() => ({ answers }));
    await somebody.session.prompt("go");
    expect(has(somebody.session)).toBe(true);
    const excluded = await asking(() => ({ answers }), { tools: { only: ["read"] } });
    await excluded.session.prompt("go");
    expect(has(excluded.session)).toBe(false);
  });

  it("is asked again by the next host with the same id, unless it was answered", async () => {
    const folder = temporaryFolder();
    const places = placesIn(folder);
    const isOpen = Promise.withResolvers<void>();
    const first = await asking(() => {
      isOpen.resolve();
      return forever();
    }, places);
    void first.session.prompt("go");
    await isOpen.promise;
    const path = first.session.log.path ?? "";
    await first.session.dispose();
    const reopened = async (answer: () => unknown) => {
      const session = { kind: "file", path } as const;
      const again = await createTestSession(["done"], {
        ...places,
        session,
        answerQuestions: (request) => {
          asked.push(request);
          return answer() as QuestionResult;
        },
      });
      await again.session.waitForIdle();
      return again;
    };
    const asked: QuestionRequest[] = [];
    const second = await reopened(() => ({ answers }));
    expect(asked).toMatchObject([{ id: first.asked[0]?.id, toolCallId: "q", questions }]);
    expect(resultOf(second.session).isError).toBe(false);
    expect(has(second.session)).toBe(true);
    await second.session.dispose();
    // As if the host had been killed after it stored the answer, but before the call had a result.
    const lines = readFileSync(path, "utf8").split("\n");
    const kept = lines.findIndex((line) => line.includes('"question_answered"'));
    writeFileSync(path, `${lines.slice(0, kept + 1).join("\n")}\n`);
    const third = await reopened(() => ({ cancelled: true }));
    expect(asked).toHaveLength(1);
    expect(resultOf(third.session)).toMatchObject({ isError: false, details: { answers } });
  });

  it("names the subagent that asks it", async () => {
    const asked: QuestionRequest[] = [];
    const call = { tasks: [{ id: "one", task: "<one>" }] };
    const one = (step: number) => (step === 0 ? ask() : "asked");
    const { session } = await createTestSession(scenario(call, { one }), {
      answerQuestions: (request) => {
        asked.push(request);
        return { answers };
      },
    });
    await session.prompt("go");
    expect(asked).toMatchObject([{ agentId: "one", toolCallId: "q", questions }]);
    expect(resultOf(session).text).toContain("asked");
  });
});

import { type Scenario, toolCall, turn } from "@tau-agent/ai/testing";
import type { SessionEvent } from "@tau-agent/rpc-protocol";
import { SettingsStore } from "@tau-agent/system";
import { describe, expect, it } from "vitest";
import { takeRewrites } from "../../../ai/test/stable-prefix.ts";
import { createTestSession, eventOf, isType } from "../create/__fixtures__/test-session.ts";

type Status = "pending" | "in_progress" | "completed";

const write = (...statuses: Status[]) =>
  turn(
    toolCall("todo_write", {
      todos: statuses.map((status, index) => ({ content: `t${index}`, status })),
    }),
  );

const shown = (todos: readonly { content: string; status: string }[]) =>
  todos.map(({ content, status }) => `${content} ${status}`);

const reminders = (events: readonly SessionEvent[]) =>
  events.flatMap((event) => (event.type === "todo_reminder" ? [event] : []));

const reminding = (scenario: Scenario, more = {}) =>
  createTestSession(scenario, {
    settings: SettingsStore.inMemory({ "todoCompletion.enabled": true, ...more }),
  });

describe("the todo list of a session", () => {
  it("is the model's latest one; an error changes nothing", async () => {
    const bad = turn(toolCall("todo_write", { todos: [{ status: "pending" }] }));
    const { session } = await createTestSession([
      write("pending", "pending"),
      write("completed", "in_progress"),
      bad,
      "done",
    ]);
    expect(session.todos.items).toEqual([]);
    await session.prompt("go");
    expect(shown(session.todos.items)).toEqual(["t0 completed", "t1 in_progress"]);
    expect(shown(session.todos.open)).toEqual(["t1 in_progress"]);
  });

  it("belongs to the branch: forks and clones copy it, a new session has none", async () => {
    const { session } = await createTestSession([
      write("pending"),
      "one",
      write("completed", "pending"),
      "two",
    ]);
    await session.prompt("first");
    await session.prompt("second");
    const [first, second] = session.navigation.forkMessages();
    const old = session.log.path ?? "";
    await session.navigation.navigate(second?.entryId ?? "");
    expect(shown(session.todos.items)).toEqual(["t0 pending"]);
    await session.navigation.navigate(first?.entryId ?? "");
    expect(session.todos.items).toEqual([]);
    await session.navigation.fork(second?.entryId ?? "");
    expect(shown(session.todos.items)).toEqual(["t0 pending"]);
    await session.navigation.clone();
    expect(shown(session.todos.items)).toEqual(["t0 pending"]);
    await session.newSession();
    expect(session.todos.items).toEqual([]);
    await session.navigation.switchSession(old);
    expect(shown(session.todos.items)).toEqual(["t0 completed", "t1 pending"]);
  });

  it("survives a compaction, and the model still sees it", async () => {
    const replies = [write("pending"), "1", "2", write("completed", "in_progress"), "3", "4"];
    const asked: string[] = [];
    const summarised: string[] = [];
    const { session } = await createTestSession(
      ({ systemPrompt, messages }) => {
        const isSummary = systemPrompt.includes("You write summaries");
        (isSummary ? summarised : asked).push(JSON.stringify(messages));
        return isSummary ? "a summary" : replies.shift();
      },
      { settings: SettingsStore.inMemory({ "compaction.keepRecentTokens": 1 }) },
    );
    await session.prompt("first");
    await session.prompt("second");
    await session.compact();
    expect(session.messages.some(({ role }) => role === "toolResult")).toBe(false);
    expect(shown(session.todos.items)).toEqual(["t0 pending"]);
    await session.prompt("third");
    expect(asked[3]).toContain("<todos>\\n[ ] t0\\n</todos>");
    await session.prompt("fourth");
    await session.compact();
    // The list in the earlier summary is outdated.
    const renewed = summarised.findLast((text) => text.includes("<previous-summary>"));
    expect(renewed).toContain("a summary");
    expect(renewed).not.toContain("<todos>");
    const [summary] = session.messages;
    const text = summary?.role === "compactionSummary" ? summary.summary : "";
    expect(text).toContain("<todos>\n[x] t0\n[>] t1\n</todos>");
  });

  it("is dropped if it was finished before the next prompt", async () => {
    const { session } = await createTestSession([write("completed"), "done", "more"]);
    await session.prompt("go");
    expect(shown(session.todos.items)).toEqual(["t0 completed"]);
    await session.prompt("go on");
    expect(session.todos.items).toEqual([]);
    const { path = "" } = session.log;
    await session.newSession();
    await session.navigation.switchSession(path);
    expect(session.todos.items).toEqual([]);
  });

  it("is stored and sent to the model when a client sets it", async () => {
    const seen: string[] = [];
    const { session, written } = await createTestSession(({ messages }) => {
      seen.push(JSON.stringify(messages));
      return "ok";
    });
    await session.prompt("hello");
    await session.todos.set([{ content: "by hand", status: "pending", phase: "P" }]);
    expect(written().at(-2)).toMatchObject({
      type: "custom",
      customType: "user_todo_edit",
      data: { phases: [{ name: "P", tasks: [{ content: "by hand", status: "pending" }] }] },
    });
    expect(shown(session.todos.items)).toEqual(["by hand pending"]);
    await session.prompt("and now");
    expect(seen.at(-1)).toContain("[ ] by hand");
    expect(session.navigation.forkMessages().map(({ text }) => text)).toEqual(["hello", "and now"]);
    await session.todos.set([]);
    expect(session.todos.items).toEqual([]);
  });

  it("reaches the model with the next turn when a client sets it during a run", async () => {
    const seen: string[] = [];
    const test = await createTestSession(({ index, messages }) => {
      seen.push(JSON.stringify(messages));
      return index === 0 ? turn(toolCall("ls", {})) : "ok";
    });
    const set = () => test.session.todos.set([{ content: "by hand", status: "pending" }]);
    test.session.subscribe(({ type }) => (type === "tool_execution_start" ? set() : undefined));
    await test.session.prompt("go");
    expect(seen).toHaveLength(2);
    expect(seen[1]).toContain("[ ] by hand");
    expect(shown(test.session.todos.items)).toEqual(["by hand pending"]);
  });

  it("is read from files of other hosts", async () => {
    const { session, parts } = await createTestSession([]);
    const { log } = parts.conversation;
    const result = (toolName: string, details: unknown, isError = false) =>
      log.append({
        type: "message",
        message: {
          role: "toolResult",
          toolCallId: "c",
          toolName,
          content: [],
          details,
          isError,
          timestamp: 0,
        },
      });
    const tasks = [
      { content: "a", status: "in_progress", notes: ["n"] },
      { content: "b", status: "blocked" },
      { status: "pending" },
    ];
    result("todo", { phases: [{ name: "One", tasks }], storage: "session" });
    expect(session.todos.items).toEqual([
      { content: "a", status: "in_progress", notes: "n", phase: "One" },
      { content: "b", status: "pending", phase: "One" },
    ]);
    result("todo_write", {
      todos: [{ id: "1", content: "c", activeForm: "C", status: "pending" }],
    });
    const third = [{ id: "1", content: "c", status: "pending", activeForm: "C" }];
    expect(session.todos.items).toEqual(third);
    result("todo_write", { todos: [] }, true);
    result("todo", { todos: [{ id: 1, text: "an extension's own", done: false }] });
    expect(session.todos.items).toEqual(third);
    log.append({ type: "custom", customType: "user_todo_edit", data: { phases: [] } });
    expect(session.todos.items).toEqual([]);
  });
});

describe("an agent that stops with open todos", () => {
  it("is not reminded by default", async () => {
    const { session, events } = await createTestSession([write("pending"), "I stop."]);
    await session.prompt("go");
    expect(reminders(events)).toEqual([]);
  });

  it("is reminded, and the prompt ends with the last run", async () => {
    const { session, events, written } = await reminding([
      write("completed", "in_progress", "pending"),
      "I stop.",
      write("completed", "completed", "completed"),
      "All done.",
    ]);
    expect(await session.prompt("go")).toMatchObject({ status: "completed" });
    expect(reminders(events)).toEqual([
      {
        type: "todo_reminder",
        todos: [
          { content: "t1", status: "in_progress" },
          { content: "t2", status: "pending" },
        ],
        attempt: 1,
        maxAttempts: 3,
      },
    ]);
    expect(session.lastAssistantText).toBe("All done.");
    const order = events.map(({ type }) => type).filter((type) => /agent|todo|prompt/.test(type));
    expect(order).toEqual([
      "agent_start",
      "agent_end",
      "todo_reminder",
      "agent_start",
      "agent_end",
      "agent_settled",
      "prompt_result",
    ]);
    const entry = written().find(({ type }) => type === "custom_message");
    expect(entry).toMatchObject({ customType: "todo_reminder", display: false });
    expect(entry?.content).toContain("[>] t1\n[ ] t2");
    expect(session.navigation.forkMessages().map(({ text }) => text)).toEqual(["go"]);
  });

  it("is reminded at most three times, and again after the next prompt", async () => {
    const { session, events } = await reminding(({ index }) =>
      index === 0 ? write("pending") : "No.",
    );
    await session.prompt("go");
    expect(reminders(events).map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    await session.prompt("please");
    expect(reminders(events).map(({ attempt }) => attempt)).toEqual([1, 2, 3, 1, 2, 3]);
  });

  it("is reminded again after progress, but not forever", async () => {
    const steps = [
      write("pending", "pending", "pending"),
      "stop",
      "stop",
      write("completed", "pending", "pending"),
      "stop",
      // Items were finished, but as many were added: no progress.
      write("completed", "completed", "pending", "pending"),
    ];
    const { session, events } = await reminding(({ index }) => steps[index] ?? "stop");
    await session.prompt("go");
    expect(reminders(events).map(({ attempt }) => attempt)).toEqual([1, 2, 1, 2, 3]);
  });

  it("is not reminded after a question, an error, or without the tool", async () => {
    const question = await reminding([write("pending"), "Shall I **go on?**"]);
    await question.session.prompt("go");
    const failed = await reminding(
      [write("pending"), turn("x", { fault: { kind: "status", status: 400 } })],
      {},
    );
    await failed.session.prompt("go");
    const without = await reminding([write("pending"), "I stop."]);
    without.session.subscribe(({ type }) => {
      if (type === "tool_execution_end") without.session.tools.activate(["read"]);
    });
    await without.session.prompt("go");
    expect(takeRewrites()).toEqual(["the instructions"]);
    for (const { events } of [question, failed, without]) expect(reminders(events)).toEqual([]);
    const never = await reminding([write("pending"), "I stop."], {
      "todoCompletion.maxReminders": 0,
    });
    await never.session.prompt("go");
    expect(reminders(never.events)).toEqual([]);
  });

  it("continues with queued messages before a reminder", async () => {
    const { session, events } = await reminding([
      write("pending"),
      "I stop.",
      "The other thing.",
      write("completed"),
      "Done.",
    ]);
    let isQueued = false;
    session.subscribe(async ({ type }) => {
      if (type !== "agent_end" || isQueued) return;
      isQueued = true;
      await session.followUp("another thing");
    });
    await session.prompt("go");
    await session.waitForIdle();
    const texts = session.messages.map(({ role }) => role).join(" ");
    expect(texts).toBe(
      "user assistant toolResult assistant user assistant custom assistant toolResult assistant",
    );
    expect(reminders(events)).toHaveLength(1);
  });

  it("is not reminded after an abort", async () => {
    const test = await reminding(({ index }) =>
      index === 0 ? write("pending") : turn("No.", { delayMs: 20 }),
    );
    const { session, events } = test;
    const ended = session.prompt("go");
    await eventOf(test, isType("todo_reminder"));
    await session.abort();
    expect(await ended).toMatchObject({ status: "aborted" });
    expect(reminders(events)).toHaveLength(1);
    expect(session.isStreaming).toBe(false);
  });

  it("is not reminded again when an abort follows the reminder itself", async () => {
    const { session, events } = await reminding([write("pending"), "I stop."]);
    session.subscribe(({ type }) => {
      if (type === "todo_reminder") void session.abort();
    });
    expect(await session.prompt("go")).toMatchObject({ status: "aborted" });
    expect(events.filter(({ type }) => type === "agent_start")).toHaveLength(1);
    expect(session.messages.some(({ role }) => role === "custom")).toBe(false);
  });

  it("is not reminded beyond the budget", async () => {
    const { session, events } = await reminding(
      [write("pending"), turn("I stop.", { usage: { input: 1, output: 100 } })],
      { "task.budget.maxOutputTokens": 100 },
    );
    await session.prompt("go");
    expect(reminders(events)).toEqual([]);
    expect(events.map(({ type }) => type)).toContain("budget_exceeded");
  });
});

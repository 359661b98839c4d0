import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type ScenarioFunction, toolCall, turn } from "@tau-agent/ai/testing";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import { contentText } from "@tau-agent/rpc-protocol/plain";
import { SettingsStore } from "@tau-agent/system";
import { describe, expect, it } from "vitest";
import { takeRewrites } from "../../../../ai/test/stable-prefix.ts";
import { MemorySessionStore } from "../../../../sessions/src/stores/memory/memory-session-store.ts";
import type { SettingValues } from "../../../../system/src/settings/schema.ts";
import { createTestSession } from "../../create/__fixtures__/test-session.ts";
import type { AgentSession } from "../../session/agent-session.ts";
import { project } from "../task-tool/__fixtures__/task-call.ts";

type Reply = ReturnType<typeof turn> | string;

const key = { projectKey: "project", sessionId: "shared" };
const write = (path: string, content: string) => turn(toolCall("write", { path, content }));
const bash = (command: string) => turn(toolCall("bash", { command }));
const task = (args: Record<string, unknown>) => turn(toolCall("task", args));

/** The mark in the first message identifies the speaker; the newest message determines the reply. */
function script(replies: Record<string, (asked: string, isFresh: boolean) => Reply>) {
  const scenario: ScenarioFunction = ({ messages }) => {
    const users = messages.filter(({ role }) => role === "user");
    const [first, last] = [users.at(0), users.at(-1)].map((message) => JSON.stringify(message));
    const name = Object.keys(replies).find((mark) => first?.includes(`<${mark}>`)) ?? "";
    return replies[name]?.(last ?? "", messages.at(-1)?.role === "user") ?? "done";
  };
  return scenario;
}

/** A separate machine with a copy of the project. */
function machine() {
  const places = project();
  const open = async (
    store: MemorySessionStore,
    scenario: ScenarioFunction,
    values: SettingValues = {},
  ) => {
    const settings = SettingsStore.inMemory({ "task.maxRecursionDepth": 3, ...values });
    settings.trustProject();
    const session = { kind: "id", id: key.sessionId } as const;
    const options = { ...places, settings, store, projectKey: key.projectKey, session };
    return (await createTestSession(scenario, options)).session;
  };
  const lose = () => rmSync(places.temporaryDirectory ?? "", { recursive: true, force: true });
  return { open, lose, file: (name: string) => join(places.cwd, name) };
}

const texts = (messages: readonly AgentMessage[]) =>
  messages.map((message) => ("content" in message ? contentText(message.content as never) : ""));

async function stateOf(session: AgentSession, id: string): Promise<string | undefined> {
  return (await session.subagents.list()).find((info) => info.id === id)?.status;
}

describe("a subagent of a session in a store", () => {
  const one = script({
    parent: (asked, isFresh) => {
      if (!isFresh) return "parent done";
      return asked.includes("resume")
        ? task({ resume: "a", task: "go on" })
        : task({ tasks: [{ id: "a", task: "<a>" }], isolated: true });
    },
    a: (asked, isFresh) => {
      if (!isFresh) return `a is done: ${asked.includes("go on")}`;
      return asked.includes("go on") ? bash("cat new.txt >> more.txt") : write("new.txt", "new\n");
    },
  });

  it("continues on another machine, from work that was not merged", async () => {
    const store = new MemorySessionStore();
    const [here, there] = [machine(), machine()];
    const first = await here.open(store, one, { "isolation.merge": "none" });
    await first.prompt("<parent> start");
    expect(existsSync(here.file("new.txt"))).toBe(false);
    await first.dispose();
    here.lose();
    const second = await there.open(store, one);
    expect(await stateOf(second, "a")).toBe("completed");
    expect(texts((await second.subagents.messages("a")).messages)).toContain("a is done: false");
    await second.prompt("resume");
    expect(JSON.stringify(second.messages)).toContain("a is done: true");
    expect(readFileSync(there.file("more.txt"), "utf8")).toBe("new\n");
    expect(readFileSync(there.file("new.txt"), "utf8")).toBe("new\n");
    await second.dispose();
    there.lose();
    // Once more: what the second machine has added is in the store, too.
    const third = await machine().open(store, one);
    expect(texts((await third.subagents.messages("a")).messages)).toEqual([
      expect.stringContaining("<a>"),
      "",
      expect.any(String),
      "a is done: false",
      "go on",
      "",
      expect.any(String),
      "a is done: true",
    ]);
    takeRewrites();
  });
});

describe("a subagent at depth 3 of a session in a store", () => {
  const deep = script({
    parent: (_, isFresh) => (isFresh ? task({ tasks: [{ id: "a", task: "<a>" }] }) : "done"),
    a: (_, isFresh) => (isFresh ? task({ tasks: [{ id: "b", task: "<b>" }] }) : "a is done"),
    b: (_, isFresh) =>
      isFresh ? task({ tasks: [{ id: "c", task: "<c>" }], isolated: true }) : "b is done",
    c: (asked, isFresh) => {
      if (!isFresh) return `c is done: ${asked.includes("go on")}`;
      return asked.includes("go on") ? bash("cat new.txt >> more.txt") : write("new.txt", "new\n");
    },
  });

  it("continues on another machine by its path, from work that was not merged", async () => {
    const store = new MemorySessionStore();
    const [here, there] = [machine(), machine()];
    const first = await here.open(store, deep, { "isolation.merge": "none" });
    await first.prompt("<parent> start");
    expect(await stateOf(first, "a/b/c")).toBe("completed");
    await first.dispose();
    here.lose();
    const second = await there.open(store, deep);
    expect((await second.subagents.list()).map(({ id }) => id)).toEqual(["a", "a/b", "a/b/c"]);
    expect(texts((await second.subagents.messages("a/b/c")).messages)).toContain(
      "c is done: false",
    );
    for (const times of [1, 2]) {
      await second.subagents.resume("a/b/c", "go on");
      const said = async () => texts((await second.subagents.messages("a/b/c")).messages);
      const answers = async () => (await said()).filter((text) => text === "c is done: true");
      await expect.poll(answers).toHaveLength(times);
      await expect.poll(() => stateOf(second, "a/b/c")).toBe("completed");
      expect(readFileSync(there.file("more.txt"), "utf8")).toBe("new\n".repeat(times));
    }
    await second.dispose();
    there.lose();
    const third = await machine().open(store, deep);
    const last = texts((await third.subagents.messages("a/b/c")).messages);
    expect(last.filter((text) => text === "c is done: true")).toHaveLength(2);
    takeRewrites();
  });
});

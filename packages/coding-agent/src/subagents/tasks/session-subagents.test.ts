import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ScenarioFunction, toolCall, turn } from "@tau-agent/ai/testing";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import { contentText } from "@tau-agent/rpc-protocol/plain";
import { describe, expect, it } from "vitest";
import { takeRewrites } from "../../../../ai/test/stable-prefix.ts";
import {
  createTestSession,
  placesIn,
  temporaryFolder,
} from "../../create/__fixtures__/test-session.ts";
import type { CreateAgentSessionOptions } from "../../create/options/session-options.ts";
import type { AgentSession } from "../../session/agent-session.ts";
import { project } from "../task-tool/__fixtures__/task-call.ts";

type Reply = ReturnType<typeof turn> | string;

/** The parent's calls in order, and the subagents' replies, by the mark in their first message. */
function script(
  parent: readonly (Reply | readonly [string, Record<string, unknown>])[],
  children: Record<string, (step: number, last: string) => Reply>,
): ScenarioFunction {
  const steps = new Map<string, number>();
  return ({ messages }) => {
    const users = messages.filter(({ role }) => role === "user");
    const [first, last] = [JSON.stringify(users[0]), JSON.stringify(users.at(-1))];
    const name = Object.keys(children).find((child) => first.includes(`<${child}>`)) ?? "";
    const step = steps.get(name) ?? 0;
    steps.set(name, step + 1);
    if (name !== "") return children[name]?.(step, last);
    const next = parent[step] ?? "parent done";
    return typeof next === "object" && "map" in next
      ? turn(toolCall(next[0], next[1], { id: `call${step}` }))
      : next;
  };
}

async function start(scenario: ScenarioFunction, options: Partial<CreateAgentSessionOptions> = {}) {
  const places = placesIn(temporaryFolder());
  return { ...(await createTestSession(scenario, { ...places, ...options })), places };
}

function results(session: AgentSession) {
  return session.messages.flatMap((message) =>
    message.role === "toolResult"
      ? [{ text: contentText(message.content), isError: message.isError, details: message.details }]
      : [],
  );
}

const texts = (messages: readonly AgentMessage[]) =>
  messages.map((message) => ("content" in message ? contentText(message.content as never) : ""));

const wait = (name: string) =>
  turn(toolCall("bash", { command: `until [ -e ${name} ]; do sleep 0.05; done` }));

describe("a subagent", () => {
  it("has its own id, and continues its conversation when it is resumed", async () => {
    const { session, events } = await start(
      script(
        [
          ["task", { tasks: [{ id: "one", task: "<one> first" }] }],
          ["task", { tasks: [{ id: "one", task: "<two> other" }] }],
          ["task", { resume: "one", task: "and then?" }],
        ],
        {
          one: (step, last) =>
            step === 0 ? "I am one" : `still one: ${last.includes("and then")}`,
          two: () => "I am two",
        },
      ),
    );
    await session.prompt("go");
    expect(results(session).map(({ text }) => text)).toEqual([
      "## one (task): completed\nI am one",
      "## one~2 (task): completed\nI am two",
      "## one (task): completed\nstill one: true",
    ]);
    const starts = events.flatMap((event) => (event.type === "subagent_start" ? [event.id] : []));
    expect(starts).toEqual(["one", "one~2", "one"]);
    expect(await session.subagents.list()).toMatchObject([
      { id: "one", status: "completed", agent: "task", background: false },
      { id: "one~2", status: "completed" },
    ]);
    const { messages, lastEntryId } = await session.subagents.messages("one");
    expect(texts(messages)).toEqual([
      expect.stringContaining("first"),
      "I am one",
      "and then?",
      "still one: true",
    ]);
    await session.subagents.resume("one", "once more");
    await expect
      .poll(async () => texts((await session.subagents.messages("one", lastEntryId)).messages))
      .toEqual(["once more", expect.stringContaining("still one")]);
    // The model is not notified.
    expect(results(session)).toHaveLength(3);
  });

  it("continues in the background after an abort, can be followed with tools, and is announced once", async () => {
    const { session, places } = await start(
      script(
        [
          ["task", { task: "<one>", background: true, notify: true }],
          turn(toolCall("bash", { command: "sleep 660" })),
          ["list_subagents", {}],
          ["subagent_output", { id: "call0", waitMs: 60000 }],
        ],
        { one: (step) => (step === 0 ? wait("go-on") : "one is done") },
      ),
    );
    const isFollowed = () => session.tools.active.some(({ name }) => name === "subagent_output");
    expect(isFollowed()).toBe(false);
    const started = session.prompt("go");
    await expect.poll(() => results(session).length).toBe(1);
    expect(results(session)[0]).toMatchObject({ details: { id: "call0" } });
    await session.abort();
    expect((await started).status).toBe("aborted");
    expect(isFollowed()).toBe(true);
    expect(await session.subagents.list()).toMatchObject([
      { id: "call0", status: "running", background: true },
    ]);
    const waiting = session.prompt("wait for it");
    await expect.poll(() => results(session).length).toBe(3);
    writeFileSync(join(places.cwd, "go-on"), "");
    await waiting;
    await session.waitForIdle();
    const output = results(session).at(-1);
    expect(output?.details).toMatchObject({ status: "completed", text: "one is done" });
    await expect
      .poll(() => session.messages.filter(({ role }) => role === "custom").length)
      .toBe(1);
    await session.waitForIdle();
    const notices = session.messages.filter(({ role }) => role === "custom");
    expect(notices).toMatchObject([{ customType: "subagent_end", details: { id: "call0" } }]);
  });

  it("can be stopped or steered without affecting others", async () => {
    const { session, places } = await start(
      script(
        [
          [
            "task",
            {
              tasks: [
                { id: "one", task: "<one>" },
                { id: "two", task: "<two>" },
              ],
            },
          ],
        ],
        {
          one: () => wait("never"),
          two: (step, last) => (step === 0 ? wait("go-on") : `heard ${last.includes("hurry")}`),
        },
      ),
    );
    const done = session.prompt("go");
    const isBusy = async (id: string) => (await session.subagents.messages(id)).messages.length > 1;
    await expect.poll(() => isBusy("one").catch(() => false)).toBe(true);
    await expect.poll(() => isBusy("two").catch(() => false)).toBe(true);
    await expect(session.subagents.resume("one", "x")).rejects.toMatchObject({
      code: "subagent_running",
    });
    await session.subagents.abort("one");
    expect(await session.subagents.list()).toMatchObject([
      { id: "one", status: "aborted" },
      { id: "two", status: "running" },
    ]);
    await session.subagents.steer("two", "hurry");
    writeFileSync(join(places.cwd, "go-on"), "");
    expect((await done).status).toBe("completed");
    expect(results(session)[0]?.text).toMatch(
      /one \(task\): aborted[\s\S]*two \(task\): completed\nheard true/,
    );
    for (const [act, code] of [
      [() => session.subagents.steer("two", "x"), "subagent_not_running"],
      [() => session.subagents.abort("two"), "subagent_not_running"],
      [() => session.subagents.messages("three"), "subagent_not_found"],
    ] as const) {
      await expect(act()).rejects.toMatchObject({ code });
    }
  });

  it("is named by its path below another subagent, whether running or not", async () => {
    const { session, places } = await start(
      script([["task", { tasks: [{ id: "a", task: "<a>" }] }]], {
        a: (step) =>
          step === 0 ? turn(toolCall("task", { tasks: [{ id: "b", task: "<b>" }] })) : "a is done",
        b: (step, last) => (step === 0 ? wait("go-on") : `b heard ${last.includes("more")}`),
      }),
    );
    const done = session.prompt("go");
    const running = async () => (await session.subagents.list()).map(({ id }) => id);
    await expect.poll(running).toEqual(["a", "a/b"]);
    await expect
      .poll(
        async () =>
          (await session.subagents.messages("a/b").catch(() => undefined))?.messages.length,
      )
      .toBeGreaterThan(1);
    await expect(session.subagents.abort("a/c")).rejects.toMatchObject({
      code: "subagent_not_found",
      message: expect.stringContaining("a/c"),
    });
    await session.subagents.steer("a/b", "more");
    writeFileSync(join(places.cwd, "go-on"), "");
    await done;
    expect(await session.subagents.list()).toMatchObject([
      { id: "a", status: "completed" },
      { id: "a/b", status: "completed" },
    ]);
    expect(texts((await session.subagents.messages("a/b")).messages)).toContain("b heard true");
    const resume = () => session.subagents.resume("a/b", "more of it");
    const [, second] = await Promise.allSettled([resume(), resume()]);
    expect(second).toMatchObject({ reason: { code: "subagent_running" } });
    await expect
      .poll(async () => texts((await session.subagents.messages("a/b")).messages).at(-2))
      .toBe("more of it");
    await expect
      .poll(async () => (await session.subagents.list()).map(({ id, status }) => [id, status]))
      .toEqual([
        ["a", "completed"],
        ["a/b", "completed"],
      ]);
    // A subagent in this process also has the instructions of the subagents above it, and these are gone now.
    expect(takeRewrites()).toEqual(["the instructions"]);
  });

  it("is known to the next host, as interrupted if it was running, and can continue there", async () => {
    const places = placesIn(temporaryFolder());
    const first = await start(
      script([["task", { tasks: [{ id: "one", task: "<one>" }], background: true }], "started"], {
        one: () => wait("never"),
      }),
      places,
    );
    await first.session.prompt("go");
    await expect
      .poll(
        async () =>
          (await first.session.subagents.messages("one").catch(() => undefined))?.messages.length,
      )
      .toBeGreaterThan(1);
    const path = first.session.log.path ?? "";
    await first.session.dispose();
    expect(readFileSync(path, "utf8")).toContain('"interrupted"');
    const second = await start(
      script([["task", { resume: "one", task: "go on" }]], { one: () => "one is done" }),
      { ...places, session: { kind: "file", path } },
    );
    expect(await second.session.subagents.list()).toMatchObject([
      { id: "one", status: "interrupted", background: true },
    ]);
    await second.session.prompt("again");
    expect(results(second.session).at(-1)?.text).toBe("## one (task): completed\none is done");
    expect(await second.session.subagents.list()).toMatchObject([
      { id: "one", status: "completed", background: false },
    ]);
  });

  it("can be continued without a file as long as its host lives", async () => {
    const { session } = await start(
      script(
        [
          ["task", { tasks: [{ id: "one", task: "<one>" }] }],
          ["task", { resume: "one", task: "more" }],
        ],
        { one: (step) => `answer ${step}` },
      ),
      { session: "memory" as never },
    );
    await session.prompt("go");
    expect(results(session).map(({ text }) => text.split("\n")[1])).toEqual([
      "answer 0",
      "answer 1",
    ]);
  });

  it("learns that its worktree is new if it was killed in an isolated one", async () => {
    const places = project();
    const background = { tasks: [{ id: "one", task: "<one>" }], isolated: true, background: true };
    const first = await start(
      script([["task", background], "started"], { one: () => wait("never") }),
      places,
    );
    await first.session.prompt("go");
    const { session } = first;
    const isBusy = async () => (await session.subagents.messages("one")).messages.length > 1;
    await expect.poll(() => isBusy().catch(() => false)).toBe(true);
    const path = session.log.path ?? "";
    // The file as a killed host leaves it.
    const left = readFileSync(path);
    await session.dispose();
    writeFileSync(path, left);
    const heard: string[] = [];
    const one = (_: number, last: string) => {
      heard.push(last);
      return "one is done";
    };
    const second = await start(script([["task", { resume: "one", task: "go on" }]], { one }), {
      ...places,
      session: { kind: "file", path },
    });
    await second.session.prompt("again");
    expect(heard).toEqual([expect.stringMatching(/in a new worktree[\s\S]*go on/)]);
    // The subagent works in another folder than before, as its instructions say.
    takeRewrites();
  });

  it("continues from its merged work if it is isolated, and from work that was kept", async () => {
    const places = project();
    const write = (path: string, content: string) => turn(toolCall("write", { path, content }));
    const one = (step: number) =>
      [
        write("new.txt", "one\n"),
        "wrote",
        turn(toolCall("bash", { command: "cat new.txt >> more.txt" })),
        "added",
      ][step] ?? "done";
    const { session } = await start(
      script(
        [
          ["task", { tasks: [{ id: "one", task: "<one>" }], isolated: true }],
          ["task", { resume: "one", task: "more" }],
        ],
        { one },
      ),
      places,
    );
    await session.prompt("go");
    expect(results(session).map(({ isError }) => isError)).toEqual([false, false]);
    expect(readFileSync(join(places.cwd, "more.txt"), "utf8")).toBe("one\n");
    expect(existsSync(join(places.cwd, "new.txt"))).toBe(true);
    // The subagent works in another folder than before, as its instructions say.
    expect(takeRewrites()).toEqual(["the instructions"]);
  });
});

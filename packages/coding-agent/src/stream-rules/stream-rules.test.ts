import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Scenario, type ScenarioRequest, text, toolCall, turn } from "@tau-agent/ai/testing";
import type { SessionEvent } from "@tau-agent/rpc-protocol";
import { describe, expect, it } from "vitest";
import {
  createTestSession,
  eventOf,
  isType,
  temporaryFolder,
  unpaired,
} from "../create/__fixtures__/test-session.ts";

const rule = (trigger: string, more = "") =>
  `---\nttsr_trigger: '${trigger}'\n${more}---\nSay please.\n`;

/** A session in a project with these files. */
async function ruled(files: Record<string, string>, scenario: Scenario) {
  const cwd = temporaryFolder();
  for (const [name, content] of Object.entries(files)) {
    const path = join(cwd, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
  const test = await createTestSession(scenario, { cwd });
  return { ...test, cwd };
}

/** Replies `first` to the first request and "Please" to later ones, and records the requests. */
function saying(first: string | ReturnType<typeof turn>) {
  const requests: ScenarioRequest[] = [];
  const scenario: Scenario = (request) => {
    requests.push(request);
    return request.index === 0 ? first : "Please";
  };
  return { requests, scenario };
}

const slowly = (said: string) => turn(text(said, { chunkSize: 4 }));
const strikes = (events: readonly SessionEvent[]) =>
  events.flatMap((event) => (event.type === "ttsr_triggered" ? [event.rules] : []));
const names = (events: readonly SessionEvent[]) =>
  strikes(events).map((rules) => rules.map(({ name }) => name));
const streamed = (events: readonly SessionEvent[]) =>
  events
    .flatMap((event) =>
      event.type === "message_update" && event.assistantMessageEvent.type === "text_delta"
        ? [event.assistantMessageEvent.delta]
        : [],
    )
    .join("");

describe("a reply that breaks a rule", () => {
  it("ends there and starts again with the rule in the context", async () => {
    const { scenario, requests } = saying(slowly("Now gimme that thing"));
    const test = await ruled({ ".pi/rules/please.md": rule("gimme") }, scenario);
    const { session, events, written, cwd } = test;
    expect(await session.prompt("go")).toMatchObject({ status: "completed" });
    expect(streamed(events)).toBe("Now gimme thPlease");
    const path = join(cwd, ".pi/rules/please.md");
    const found = { name: "please", path, content: "Say please.", condition: ["gimme"] };
    expect(strikes(events)).toEqual([[found]]);
    expect(session.messages.map(({ role }) => role)).toEqual(["user", "custom", "assistant"]);
    expect(requests[1]?.messages).toHaveLength(2);
    expect(requests[1]?.lastUserText).toContain("Say please.");
    const stored = written().flatMap(({ message, customType }) =>
      message?.role === "assistant" ? [message.stopReason] : (customType ?? []),
    );
    expect(stored).toEqual(["environment", "request_setup", "aborted", "ttsr-injection", "stop"]);
    expect(written().map(({ type }) => type)).toContain("custom_message");
  });

  it("adds a turn to the run, which counts as neither aborted nor retried", async () => {
    const test = await ruled({ ".pi/rules/please.md": rule("gimme") }, saying("gimme").scenario);
    await test.session.prompt("go", { id: "p" });
    const types = test.events.filter(({ type }) => type !== "message_update");
    expect(types.map(({ type }) => type)).toEqual([
      "agent_start",
      ...["turn_start", "message_start", "message_end"],
      ...["message_start", "ttsr_triggered", "message_end", "turn_end"],
      ...["turn_start", "message_start", "message_end"],
      ...["message_start", "message_end", "turn_end"],
      ...["agent_end", "agent_settled", "prompt_result"],
    ]);
    expect(types.slice(-2)).toEqual([
      { type: "agent_settled", aborted: false },
      { type: "prompt_result", id: "p", status: "completed" },
    ]);
  });

  it("runs none of its tool calls, and leaves none without a result", async () => {
    const write = (path: string, content: string) =>
      toolCall("write", { path, content }, { chunkSize: 5 });
    const first = turn([write("a.txt", "fine"), write("b.txt", 'so\ngimme "that"')]);
    const files = { ".pi/rules/please.md": rule('^gimme "th', "scope: tool:write\n") };
    const { scenario, requests } = saying(first);
    const { session, events, cwd } = await ruled(files, scenario);
    // The pattern matches a decoded string, line by line.
    writeFileSync(join(cwd, ".pi/rules/please.md"), rule('/^gimme "th/m', "scope: tool\n"));
    await session.prompt("go");
    expect(names(events)).toEqual([["please"]]);
    expect(["a.txt", "b.txt"].filter((name) => existsSync(join(cwd, name)))).toEqual([]);
    const ends = events.filter(isType("tool_execution_end"));
    expect(ends).toMatchObject([{ isError: true, result: { details: { skipped: "stopped" } } }]);
    expect(unpaired(session.messages)).toEqual([]);
    expect(requests[1]?.messages.map(({ role }) => role)).toEqual(["user", "user"]);
  });

  it("stays in the conversation if the rule says so, with results for its complete calls", async () => {
    const first = turn([text("Listing. "), toolCall("ls", { path: "gimme" })]);
    const { scenario, requests } = saying(first);
    const { session, events } = await ruled({ ".omp/rules/please.md": rule("gimme") }, scenario);
    session.settings.override("ttsr.contextMode", "keep");
    expect(await session.prompt("go")).toMatchObject({ status: "completed" });
    expect(names(events)).toEqual([["please"]]);
    const roles = requests[1]?.messages.map(({ role }) => role);
    expect(roles?.slice(0, 2)).toEqual(["user", "assistant"]);
    expect(requests[1]?.messages[1]).toMatchObject({
      content: expect.arrayContaining([expect.objectContaining({ text: "Listing. " })]),
    });
    expect(unpaired(session.messages)).toEqual([]);
  });

  it("causes one event and one reminder if it breaks several rules", async () => {
    const files = {
      ".pi/rules/one.md": rule("gim+e"),
      ".agents/rules/two.md": rule("(?i)GIMME"),
      ".pi/rules/three.mdc": rule("never said"),
    };
    const { session, events } = await ruled(files, saying(slowly("gimme")).scenario);
    await session.prompt("go");
    expect(names(events)).toEqual([["one", "two"]]);
    expect(session.messages.filter(({ role }) => role === "custom")).toHaveLength(1);
  });

  it("is not stopped by rules that are off, have no pattern, or concern something else", async () => {
    const files = {
      ".pi/rules/thought.md": rule("gimme", "scope: thinking\n"),
      ".pi/rules/other.md": rule("gimme", "scope: ['tool:edit(*.ts)']\n"),
      ".pi/rules/files.md": rule("gimme", "globs: '*.ts'\n"),
      ".pi/rules/off.md": rule("gimme", "enabled: false\n"),
      ".pi/rules/no.md": rule("gimme", "enabled: no\n"),
      ".pi/rules/quoted.md": rule("gimme", 'enabled: "Off"\n'),
      ".pi/rules/plain.md": "Always be kind.",
    };
    const { session, events } = await ruled(files, ["gimme", "gimme"]);
    await session.prompt("go");
    expect(strikes(events)).toEqual([]);
    expect(session.diagnostics).toEqual([]);
  });

  it("is not watched with ttsr.enabled false", async () => {
    const test = await ruled({ ".pi/rules/please.md": rule("gimme") }, ["gimme"]);
    test.session.settings.override("ttsr.enabled", false);
    await test.session.prompt("go");
    expect(strikes(test.events)).toEqual([]);
  });

  it("ends as aborted if the user aborts it meanwhile", async () => {
    const test = await ruled({ ".pi/rules/please.md": rule("gimme") }, saying("gimme").scenario);
    test.session.subscribe((event) => {
      if (event.type === "ttsr_triggered") void test.session.abort();
    });
    expect(await test.session.prompt("go")).toMatchObject({ status: "aborted" });
    expect(test.session.messages.some(({ role }) => role === "custom")).toBe(false);
  });

  it("receives steering that came meanwhile together with the reminder", async () => {
    const { scenario, requests } = saying(slowly("gimme that"));
    const test = await ruled({ ".pi/rules/please.md": rule("gimme") }, scenario);
    test.session.subscribe((event) => {
      if (event.type === "ttsr_triggered") void test.session.steer("and hurry");
    });
    await test.session.prompt("go");
    await test.session.waitForIdle();
    expect(requests.flatMap(({ lastUserText }) => lastUserText)).toContain("and hurry");
    expect(test.session.messages.at(-1)).toMatchObject({ role: "assistant", stopReason: "stop" });
  });
});

describe("a rule about certain files", () => {
  const files = { ".pi/rules/please.md": rule("gimme", "scope: ['tool:write(src/*.ts)']\n") };
  const writing = (path: string) =>
    turn([toolCall("write", { content: "gimme", path }, { chunkSize: 3 })]);

  it("matches once the call names such a file, even if the path comes last", async () => {
    const { session, events, cwd } = await ruled(files, saying(writing("src/a.ts")).scenario);
    await session.prompt("go");
    expect(names(events)).toEqual([["please"]]);
    expect(existsSync(join(cwd, "src/a.ts"))).toBe(false);
  });

  it("ignores calls about other files", async () => {
    const { session, events, cwd } = await ruled(files, saying(writing("src/a.md")).scenario);
    await session.prompt("go");
    expect(strikes(events)).toEqual([]);
    expect(existsSync(join(cwd, "src/a.md"))).toBe(true);
  });
});

describe("a rule that has matched", () => {
  const always: Scenario = () => "gimme";
  const please = { ".pi/rules/please.md": rule("gimme") };

  it("does not match again, even in a resumed or forked session", async () => {
    const first = await ruled(please, always);
    await first.session.prompt("one");
    await first.session.prompt("two");
    expect(names(first.events)).toEqual([["please"]]);
    const { path } = first.session.log;
    const [, second] = first.session.navigation.forkMessages();
    await first.session.navigation.fork(second?.entryId ?? "");
    await first.session.prompt("three");
    expect(names(first.events)).toEqual([["please"]]);
    const messages = first.session.messages.map(({ role }) => role);
    await first.session.dispose();
    const session = { kind: "file" as const, path: path ?? "" };
    const again = await createTestSession(always, { cwd: first.cwd, session });
    expect(again.session.messages.map(({ role }) => role)).toEqual(messages);
    await again.session.prompt("four");
    expect(strikes(again.events)).toEqual([]);
  });

  it("matches again after the gap in mode after-gap, and never twice in a row", async () => {
    const { session, events } = await ruled(please, always);
    session.settings.override("ttsr.repeatMode", "after-gap");
    session.settings.override("ttsr.repeatGap", 2);
    for (const prompt of ["1", "2", "3"]) await session.prompt(prompt);
    expect(strikes(events)).toHaveLength(2);
    session.settings.override("ttsr.repeatGap", 0);
    await session.prompt("4");
    await session.prompt("5");
    expect(strikes(events)).toHaveLength(4);
  });
});

describe("an unusable rule", () => {
  it("is reported once with a fix, and the other rules work", async () => {
    const files = {
      ".pi/rules/a.md": rule("(unclosed"),
      ".pi/rules/b.md": '---\nttsr_trigger: "\\d"\n---\nNo.',
      ".pi/rules/c.md": rule("x", "scope: everywhere\n"),
      ".pi/rules/please.md": rule("gimme"),
    };
    const { session, events, cwd } = await ruled(files, saying("gimme").scenario);
    await session.prompt("go");
    await session.prompt("go on");
    expect(names(events)).toEqual([["please"]]);
    const at = (name: string) => join(cwd, ".pi/rules", name);
    expect(session.diagnostics).toMatchObject([
      { path: at("a.md"), message: expect.stringContaining("ttsr_trigger is not a regular expr") },
      { path: at("b.md"), message: expect.stringContaining("single quotes") },
      { path: at("c.md"), message: expect.stringContaining("scope everywhere is not one of") },
    ]);
  });

  it("is disabled when its search never ends, while the host stays responsive", async () => {
    const files = {
      ".pi/rules/endless.md": rule("(a+)+z"),
      ".pi/rules/please.md": rule("gimme"),
    };
    const { scenario } = saying(`${"a".repeat(60)}! gimme`);
    const test = await ruled(files, scenario);
    let longestMs = 0;
    let last = performance.now();
    const timer = setInterval(() => {
      longestMs = Math.max(longestMs, performance.now() - last);
      last = performance.now();
    }, 10);
    expect(await test.session.prompt("go")).toMatchObject({ status: "completed" });
    clearInterval(timer);
    expect(longestMs).toBeLessThan(400);
    expect(names(test.events)).toContainEqual(["please"]);
    expect(test.session.diagnostics).toMatchObject([
      {
        path: join(test.cwd, ".pi/rules/endless.md"),
        message: expect.stringContaining("is now disabled"),
      },
    ]);
  });
});

it("stops a watched run with the session, and leaves no thread that keeps the process alive", async () => {
  const test = await ruled({ ".pi/rules/please.md": rule("gimme") }, () =>
    turn(text("fine ".repeat(200), { chunkSize: 5, delayMs: 2 })),
  );
  const result = test.session.prompt("go");
  await eventOf(test, isType("message_update"));
  await test.session.dispose();
  expect(await result).toMatchObject({ status: "aborted" });
});

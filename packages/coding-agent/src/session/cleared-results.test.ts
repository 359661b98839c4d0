import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createStream } from "@tau-agent/ai";
import {
  type Scenario,
  type ScenarioRequest,
  scriptedModel,
  scriptedProvider,
  toolCall,
  turn,
} from "@tau-agent/ai/testing";
import { SettingsStore } from "@tau-agent/system";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  createTestSession,
  placesIn,
  temporaryFolder,
} from "../create/__fixtures__/test-session.ts";
import type { CreateAgentSessionOptions } from "../create/options/session-options.ts";

const isSummary = ({ systemPrompt }: ScenarioRequest) => systemPrompt.includes("summaries");

/** The requests of a session, and the results in its last request. */
async function start(
  reply: Scenario & ((request: ScenarioRequest) => unknown),
  options: Partial<CreateAgentSessionOptions> = {},
) {
  const folder = temporaryFolder();
  const places = placesIn(folder);
  const cwd = places.cwd ?? "";
  mkdirSync(cwd, { recursive: true });
  const requests: ScenarioRequest[] = [];
  const scenario: Scenario = (request) => {
    requests.push(request);
    return reply(request) as string;
  };
  const stream = createStream({
    providers: {
      scripted: async () => scriptedProvider(scenario),
      // Gives the session a wire format with known caches.
      "anthropic-messages": async () => scriptedProvider(scenario),
    },
  });
  const test = await createTestSession(scenario, { ...places, stream, ...options });
  return {
    ...test,
    places,
    requests,
    put: (name: string, text: string) => writeFileSync(join(cwd, name), text),
    open: (more: Partial<CreateAgentSessionOptions>) =>
      createTestSession(scenario, { ...places, ...options, ...more }),
  };
}

/** Calls the tools that a prompt names, one after the other: `read a.txt`. */
const obedient = (request: ScenarioRequest) => {
  if (isSummary(request)) return "SUMMARY";
  const steps = request.lastUserText.split("; ");
  const done = request.messages.slice(
    request.messages.findLastIndex(({ role }) => role === "user"),
  ).length;
  const [name = "", ...words] = steps[(done - 1) / 2]?.split(" ") ?? [];
  const argument = words.join(" ");
  switch (name) {
    case "read":
      return turn([toolCall("read", { path: argument })]);
    case "edit":
      return turn([toolCall("edit", { path: argument, oldText: "first", newText: "first!" })]);
    case "bash":
      return turn([toolCall("bash", { command: argument })]);
    case "recall":
      return turn([toolCall("read_entry", { entryId: argument })]);
    default:
      return "done";
  }
};

const resultsOf = (request: ScenarioRequest | undefined) =>
  (request?.messages ?? []).flatMap((message) =>
    message.role === "toolResult"
      ? message.content.map((block) => (block.type === "text" ? block.text : block.type))
      : [],
  );
const names = (request: ScenarioRequest | undefined) =>
  request?.tools.map(({ name }) => name) ?? [];

/** A text of about `thousands` thousand tokens. */
const large = (thousands: number, word = "first") =>
  `${word}\n${`${"some words of a text that goes on ".repeat(3)}\n`.repeat(thousands * 42)}`;

/** Checks that every request begins with the whole previous one. */
function expectStablePrefix(requests: readonly ScenarioRequest[]): void {
  for (const [index, request] of requests.entries()) {
    const before = requests[index - 1];
    if (before === undefined) continue;
    expect(request.tools).toEqual(before.tools);
    expect(request.systemPrompt).toBe(before.systemPrompt);
    expect(request.messages.slice(0, before.messages.length)).toEqual(before.messages);
  }
}

describe("a repeated call with an unchanged result", () => {
  it("is shown as one line at once, without changing what was sent before", async () => {
    const { session, requests, put, open, written } = await start(obedient);
    put("a.txt", large(1));
    await session.prompt("read a.txt; bash true; read a.txt; read a.txt");
    const [first, , second, third] = resultsOf(requests.at(-1));
    expect(first).toContain("some words");
    const entries = written().filter(({ message }) => message?.role === "toolResult");
    const line = `[Unchanged: same output as the earlier identical call, entry ${entries[0]?.id}]`;
    expect([second, third]).toEqual([line, line]);
    expect(JSON.stringify(entries[2]?.message)).toContain("some words");
    expect(JSON.stringify(session.messages.at(-2))).toContain("some words");
    expectStablePrefix(requests);
    await session.dispose();
    const again = await open({ session: { kind: "latest" } });
    await again.session.prompt("go on");
    expectStablePrefix(requests);
    expect(names(requests.at(-1))).not.toContain("read_entry");
  });

  it("is shown in full if the result has changed, is small, or clearing is off", async () => {
    const { session, requests, put } = await start(obedient);
    put("a.txt", large(1));
    put("b.txt", "small");
    await session.prompt("read b.txt; read b.txt; read a.txt; edit a.txt; read a.txt");
    expect(resultsOf(requests.at(-1)).join()).not.toContain("Unchanged");
    session.settings.override("compaction.clearToolResults", "off");
    await session.prompt("read a.txt");
    expect(resultsOf(requests.at(-1)).join()).not.toContain("Unchanged");
  });

  it("is shown in full again once a compaction has summarised the earlier result", async () => {
    const { session, requests, put } = await start(obedient, {
      settings: SettingsStore.inMemory({ "compaction.keepRecentTokens": 1500 }),
    });
    put("a.txt", large(1));
    await session.prompt("read a.txt");
    await session.prompt("go on");
    await session.prompt("read a.txt");
    expect(resultsOf(requests.at(-1)).at(-1)).toContain("Unchanged");
    await session.compact();
    await session.prompt("go on");
    expect(resultsOf(requests.at(-1))).toEqual([expect.stringContaining("some words")]);
  });
});

describe("outdated tool results", () => {
  /** A session with 30 000 tokens of results that are outdated or two prompts old. */
  async function outdated(options: Partial<CreateAgentSessionOptions> = {}) {
    const test = await start(obedient, options);
    for (const name of ["a", "b", "c", "d"]) test.put(`${name}.txt`, large(10, `first of ${name}`));
    await test.session.prompt("read a.txt; edit a.txt; read b.txt; read d.txt");
    await test.session.prompt("read c.txt");
    return test;
  }

  it("become one line each when they are most of the context", async () => {
    const { session, requests, written } = await outdated();
    expect(resultsOf(requests.at(-1)).join()).not.toContain("Cleared");
    await session.prompt("bash echo hello");
    const first = requests.at(-2);
    const [a, edit, b, , c] = resultsOf(first);
    const entries = written().filter(({ message }) => message?.role === "toolResult");
    expect(a).toMatch(new RegExp(`^\\[Cleared: entry ${entries[0]?.id}, about \\d+ tokens\\]$`));
    expect(b).toMatch(new RegExp(`^\\[Cleared: entry ${entries[2]?.id}, about \\d+ tokens\\]$`));
    expect(edit).not.toContain("Cleared");
    expect(c).toContain("some words");
    expect(names(first).at(-1)).toBe("read_entry");
    expect(first?.systemPrompt).toBe(requests[0]?.systemPrompt);
    expectStablePrefix(requests.slice(-2));
    expect(JSON.stringify(entries)).toContain("some words");
    const results = session.messages.filter(({ role }) => role === "toolResult");
    expect(results).toEqual(entries.map(({ message }) => message));
  });

  it("stay in a short session, where clearing would cost more than it saves", async () => {
    const cost = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
    const { session, requests, put } = await start(obedient, { model: scriptedModel({ cost }) });
    for (const name of ["a", "b", "c", "d", "e"]) put(`${name}.txt`, large(10, name));
    await session.prompt("read a.txt; read b.txt; read c.txt");
    await session.prompt("read d.txt; read e.txt");
    await session.prompt("bash echo hello");
    expect(resultsOf(requests.at(-1)).join()).not.toContain("Cleared");
    await session.prompt("go on");
    expect(resultsOf(requests.at(-1)).join()).toContain("Cleared");
  });

  it("can be read back by their entry id", async () => {
    const { session, requests, written } = await outdated();
    await session.prompt("bash echo hello");
    const entry = written().find(({ message }) => message?.role === "toolResult");
    await session.prompt(`recall ${entry?.id}; recall nonsense`);
    const [found, missing] = resultsOf(requests.at(-1)).slice(-2);
    expect(found).toMatch(
      /^first of a\nsome words[\s\S]*more characters\. Use offset=\d+ to continue\.\]$/,
    );
    expect(missing).toContain("No entry nonsense holds the output of a tool");
  });

  it("have the same bytes after the session is reopened, forked, or left and entered again", async () => {
    const { session, requests, open } = await outdated();
    await session.prompt("bash echo hello");
    const left = session.log.tree.leafId ?? "";
    await session.prompt("go on");
    const sent = requests.at(-1);
    await session.navigation.navigate(left, {});
    await session.prompt("go on");
    expect(requests.at(-1)?.messages.slice(0, -1)).toEqual(sent?.messages.slice(0, -1));
    await session.dispose();
    const again = await open({ session: { kind: "latest" } });
    await again.session.prompt("on");
    expectStablePrefix(requests.slice(-2));
    const message = again.session.navigation.forkMessages().at(-1);
    await again.session.navigation.fork(message?.entryId ?? "");
    await again.session.prompt("on");
    expect(requests.at(-1)?.messages).toHaveLength(requests.at(-2)?.messages.length ?? 0);
    expect(resultsOf(requests.at(-1))).toEqual(resultsOf(requests.at(-2)));
    expect(names(requests.at(-1))).toEqual(names(requests.at(-2)));
    await again.session.newSession();
    await again.session.prompt("on");
    expect(names(requests.at(-1))).not.toContain("read_entry");
  });

  it("become one line each with a compaction, except for those of the current prompt", async () => {
    const { session, requests, put } = await start(obedient, {
      settings: SettingsStore.inMemory({ "compaction.keepRecentTokens": 3000 }),
    });
    put("a.txt", large(1));
    await session.prompt("read a.txt; edit a.txt; bash seq 1 800");
    await session.prompt("read a.txt; edit a.txt; read a.txt");
    expect(resultsOf(requests.at(-1)).join()).not.toContain("Cleared");
    await session.compact();
    await session.prompt("go on");
    const shown = resultsOf(requests.at(-1)).join("\n");
    expect(shown).not.toContain("Cleared");
    await session.prompt("edit a.txt; bash seq 1 900");
    await session.prompt("go on");
    await session.compact();
    await session.prompt("go on");
    expect(resultsOf(requests.at(-1)).join("\n")).toContain("Cleared");
  });

  it.each([
    ["short", 4, 6],
    ["long", 59, 61],
  ] as const)(
    "become one line each when the vendor's cache has expired: %s",
    async (cacheRetention, kept, gone) => {
      vi.useFakeTimers({ toFake: ["Date"] });
      onTestFinished(() => void vi.useRealTimers());
      const wait = (minutes: number) => vi.setSystemTime(Date.now() + minutes * 60_000);
      let slow = 0;
      const { session, requests, put } = await start(
        (request) => {
          if (request.toolResults.length > 0) wait(slow);
          return obedient(request);
        },
        {
          model: scriptedModel({
            api: "anthropic-messages",
            baseUrl: "https://api.anthropic.com",
          }),
          settings: SettingsStore.inMemory({ cacheRetention }),
        },
      );
      put("a.txt", large(1));
      put("b.txt", large(1));
      await session.prompt("read a.txt; edit a.txt");
      wait(kept);
      await session.prompt("go on");
      expectStablePrefix(requests);
      wait(gone);
      await session.prompt("read b.txt; edit b.txt");
      expect(resultsOf(requests.at(-3))[0]).toContain("Cleared");
      slow = gone;
      await session.prompt("read a.txt; edit a.txt; bash true; bash true");
      const shown = resultsOf(requests.at(-1));
      expect(shown[2]).toContain("Cleared");
      expect(shown[4]).toContain("some words");
    },
  );

  it("stay when clearing is off, and no line names read_entry if that tool is excluded", async () => {
    const off = await outdated({
      settings: SettingsStore.inMemory({ "compaction.clearToolResults": "off" }),
    });
    await off.session.prompt("bash echo hello");
    expect(resultsOf(off.requests.at(-1)).join()).not.toContain("Cleared");
    const { session, requests } = await outdated({ tools: { exclude: ["read_entry"] } });
    await session.prompt("bash echo hello");
    expect(resultsOf(requests.at(-1)).join()).toContain("Cleared");
    expect(names(requests.at(-1))).not.toContain("read_entry");
    expect(session.diagnostics).toEqual([]);
  });
});

import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { toolCall, turn } from "@tau-agent/ai/testing";
import type { ToolResultMessage } from "@tau-agent/rpc-protocol/messages";
import { contentText } from "@tau-agent/rpc-protocol/plain";
import { type DiagnosticsEntry, LocalWorkspace, SettingsStore } from "@tau-agent/system";
import { describe, expect, it } from "vitest";
import { describeWith } from "../../../scripts/testing/describe-with.ts";
import { bubblewrapIsMissing } from "../../system/src/sandbox/__fixtures__/has-bubblewrap.ts";
import {
  createTestSession,
  type LocalOptions,
  placesIn,
  temporaryFolder,
} from "../src/create/__fixtures__/test-session.ts";
import type { CreateAgentSessionOptions } from "../src/create/options/session-options.ts";
import { SessionSharing } from "../src/create/options/session-sharing.ts";
import { git, project } from "../src/subagents/task-tool/__fixtures__/task-call.ts";

const fixture = join(import.meta.dirname, "../src/diagnostics/__fixtures__/language-server.mjs");
const problem = (name: string) => `a.txt:1:1: error 7 bad: ${name}`;

const write = (content: string, path = "a.txt") => toolCall("write", { path, content });

/** A folder, and the starts of servers that its sessions record. */
function place(behaviour = "well", places: LocalOptions = placesIn(temporaryFolder())) {
  const log = join(places.cwd, "log");
  const entry: DiagnosticsEntry = {
    match: "*.txt",
    server: [process.execPath, fixture, behaviour, log],
  };
  const lines = (word: string, file = log) =>
    existsSync(file)
      ? [...readFileSync(file, "utf8").matchAll(new RegExp(`^${word} (.*)$`, "gm"))]
      : [];
  const open = (options: Partial<CreateAgentSessionOptions> = {}) =>
    openSession({ ...places, diagnostics: { entries: [entry] }, ...options });
  return {
    places,
    open,
    starts: (file?: string) => lines("start", file).map(([, pid]) => Number(pid)),
    opened: () => lines("open").length,
  };
}

/** A session that makes the given calls, and returns the text of their results. */
async function openSession(options: Partial<CreateAgentSessionOptions>) {
  let calls: readonly ReturnType<typeof toolCall>[] = [];
  const { session } = await createTestSession(
    ({ messages }) => (messages.at(-1)?.role === "toolResult" ? "done" : turn(calls)),
    {
      settings: SettingsStore.inMemory({ diagnosticsTimeoutMs: 60_000 }),
      permissions: { mode: "all" },
      ...options,
    },
  );
  const run = async (...given: typeof calls): Promise<string> => {
    calls = given;
    await session.prompt("go");
    const results = session.messages.filter(
      (message): message is ToolResultMessage => message.role === "toolResult",
    );
    return results
      .slice(-given.length)
      .map(({ content }) => contentText(content, "\n"))
      .join("\n");
  };
  const failures = () => session.diagnostics.filter(({ code }) => code === "diagnostics_failed");
  return { session, run, failures };
}

function isAlive(pid = 0): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe("sessions that share language servers", () => {
  it("use one server per folder, which ends with the last of them", async () => {
    const sharing = new SessionSharing();
    const { open, starts } = place();
    const [a, b] = [await open({ sharing }), await open({ sharing })];
    const told = await Promise.all([a.run(write("BAD a", "1.txt")), b.run(write("BAD b"))]);
    expect(told[0]).toContain("1.txt:1:1: error 7 bad: BAD a");
    expect(told[1]).toContain(problem("BAD b"));
    expect(starts()).toHaveLength(1);
    // The session that started the server leaves first.
    await a.session.dispose();
    expect(await b.run(write("BAD c"))).toContain(problem("BAD c"));
    expect(starts()).toHaveLength(1);
    await b.session.dispose();
    await expect.poll(() => isAlive(starts()[0])).toBe(false);
    const c = await open({ sharing });
    await c.run(write("BAD d"));
    expect(starts()).toHaveLength(2);
  });

  it("use separate servers for other folders, other variables, or another sharing", async () => {
    const sharing = new SessionSharing();
    const { open, starts, places } = place();
    const cwd = join(places.homeDirectory ?? "", "other");
    mkdirSync(cwd);
    const environment = { ...places.environment, MINE: "yes" };
    const others = [{}, { cwd }, { environment }, { sharing: new SessionSharing() }];
    for (const [at, options] of others.entries()) {
      const { run } = await open({ sharing, ...options });
      expect(await run(write(`BAD ${at}`))).toContain(problem(`BAD ${at}`));
    }
    expect(starts()).toHaveLength(4);
  });

  it("see their own changes, even in the same file", async () => {
    const sharing = new SessionSharing();
    const { open } = place();
    const [a, b] = [await open({ sharing }), await open({ sharing })];
    await a.run(write("one\ntwo\n"));
    expect(await b.run(write("one\ntwo\nBAD b\n"))).toContain("a.txt:3:1: error 7 bad: BAD b");
    const edit = toolCall("edit", { path: "a.txt", oldText: "one", newText: "BAD a" });
    const told = await a.run(edit);
    expect(told).toContain("a.txt:1:1: error 7 bad: BAD a");
    expect(told).not.toContain("BAD b");
  });

  it("restart a crashed server once for all", async () => {
    const sharing = new SessionSharing();
    const { open, starts } = place();
    const [a, b] = [await open({ sharing }), await open({ sharing })];
    await a.run(write("DIE", "1.txt"));
    expect(await b.run(write("BAD b"))).toContain(problem("BAD b"));
    expect(await a.run(write("BAD a"))).toContain(problem("BAD a"));
    expect(starts()).toHaveLength(2);
    expect([...a.failures(), ...b.failures()]).toEqual([]);
  });

  it("each report once that it has crashed again, and do not restart it", async () => {
    const sharing = new SessionSharing();
    const { open, starts } = place("crash");
    const [a, b] = [await open({ sharing }), await open({ sharing })];
    for (const { run } of [a, b, a, b, a]) await run(write("x"));
    expect(starts()).toHaveLength(2);
    for (const { failures } of [a, b]) {
      expect(failures()).toHaveLength(1);
      expect(failures()[0]?.message).toContain("was started twice");
    }
  });

  it("do not cancel each other's checks when they end", async () => {
    const sharing = new SessionSharing();
    const { open, starts, opened, places } = place();
    const [a, b] = [await open({ sharing }), await open({ sharing })];
    await b.run(write("x", "0.txt"));
    const hanging = a.run(write("SILENT", "1.txt"));
    await expect.poll(() => opened()).toBe(2);
    const waiting = b.run(write("BAD b"));
    await expect.poll(() => existsSync(join(places.cwd, "a.txt"))).toBe(true);
    await a.session.dispose();
    await hanging;
    expect(await waiting).toContain(problem("BAD b"));
    expect(starts()).toHaveLength(1);
  });

  it("share one server in a given workspace, too", async () => {
    const sharing = new SessionSharing();
    const { open, starts, places } = place();
    const local = new LocalWorkspace({ cwd: places.cwd, environment: places.environment });
    const workspace = Object.assign(local, { id: "elsewhere" });
    const [a, b] = [await open({ sharing, workspace }), await open({ sharing, workspace })];
    expect(await a.run(write("BAD a"))).toContain(problem("BAD a"));
    expect(await b.run(write("BAD b"))).toContain(problem("BAD b"));
    await a.session.dispose();
    expect(await b.run(write("BAD c"))).toContain(problem("BAD c"));
    expect(starts()).toHaveLength(1);
    await b.session.dispose();
    await expect.poll(() => isAlive(starts()[0])).toBe(false);
  });
});

it("share the caller's server with a subagent in the same folder, but not with one in its own tree", async () => {
  const { places, starts } = place("well", project());
  const log = join(places.homeDirectory ?? "", "log");
  git(places.cwd, "status");
  const entry = { match: "*.txt", server: [process.execPath, fixture, "well", log] };
  const told: string[] = [];
  const { session } = await createTestSession(
    ({ messages }) => {
      const results = messages.filter(({ role }) => role === "toolResult");
      const [, where] = /<child> (\w+)/.exec(JSON.stringify(messages[0])) ?? [];
      if (where !== undefined) {
        if (results.length === 0) return turn(write(`BAD ${where}`, "b.txt"));
        told.push(contentText(results[0]?.content as never, "\n"));
        return "done";
      }
      const steps = [
        write("BAD\n"),
        toolCall("task", { task: "<child> here" }),
        toolCall("task", { task: "<child> there", isolated: true }),
      ];
      const step = steps[results.length];
      if (results.length === 2) expect(starts(log)).toHaveLength(1);
      return step === undefined ? "done" : turn(step);
    },
    {
      ...{ ...places, diagnostics: { entries: [entry] }, permissions: { mode: "all" } },
      settings: SettingsStore.inMemory({ diagnosticsTimeoutMs: 60_000 }),
    },
  );
  await session.prompt("go");
  expect(told).toHaveLength(2);
  for (const text of told) expect(text).toContain("b.txt:1:1: error 7 bad: BAD");
  expect(starts(log)).toHaveLength(2);
  // The server of the subagent's tree has ended with the subagent.
  await expect.poll(() => starts(log).map(isAlive)).toEqual([true, false]);
});

describeWith(bubblewrapIsMissing)("sessions with the same sandbox", () => {
  it("share a sandboxed server only with the same sandbox", async () => {
    const sharing = new SessionSharing();
    const { open, starts } = place();
    // Listed explicitly, because this repository may be in /tmp, which the sandbox replaces.
    const writable = [dirname(process.execPath), dirname(fixture)];
    const sandbox = { mode: "workspace", network: "off", write: writable } as const;
    const [a, b] = [await open({ sharing, sandbox }), await open({ sharing, sandbox })];
    expect(await a.run(write("BAD a"))).toContain(problem("BAD a"));
    expect(await b.run(write("BAD b"))).toContain(problem("BAD b"));
    await a.session.dispose();
    expect(await b.run(write("BAD c"))).toContain(problem("BAD c"));
    expect(starts()).toHaveLength(1);
    const c = await open({ sharing, sandbox: { ...sandbox, network: ["localhost"] } });
    expect(await c.run(write("BAD d"))).toContain(problem("BAD d"));
    expect(starts()).toHaveLength(2);
  });

  it("share the caller's sandboxed server with its subagents", async () => {
    const { places, starts } = place("well", project());
    const log = join(places.cwd, "log");
    const entry = { match: "*.txt", server: [process.execPath, fixture, "well", log] };
    const writable = [dirname(process.execPath), dirname(fixture)];
    const { session } = await createTestSession(
      ({ messages }) => {
        const done = messages.filter(({ role }) => role === "toolResult").length;
        const isChild = JSON.stringify(messages[0]).includes("<child>");
        const steps = isChild
          ? [write("BAD\n", "b.txt")]
          : [write("BAD\n"), toolCall("task", { task: "<child>" })];
        const step = steps[done];
        return step === undefined ? "done" : turn(step);
      },
      {
        ...{ ...places, diagnostics: { entries: [entry] }, permissions: { mode: "all" } },
        sandbox: { mode: "workspace", network: "off", write: writable },
        settings: SettingsStore.inMemory({ diagnosticsTimeoutMs: 60_000 }),
      },
    );
    await session.prompt("go");
    expect(starts()).toHaveLength(1);
    expect(readFileSync(log, "utf8").match(/b\.txt/g)).toHaveLength(1);
  });
});

it("checks both of two files that change at the same time", async () => {
  const command = `sleep 0.3; awk '/BAD/ {print FILENAME ":" FNR ":1: error: bad"}' {file}`;
  const { open } = place();
  const diagnostics = { entries: [{ match: "*.txt", command }] };
  const { run } = await open({ diagnostics, toolExecution: "parallel" });
  const told = await run(write("BAD", "1.txt"), write("BAD", "2.txt"));
  expect(told).toContain("1.txt:1:1: error bad");
  expect(told).toContain("2.txt:1:1: error bad");
});

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { toolCall, turn } from "@tau-agent/ai/testing";
import type { ToolResultMessage } from "@tau-agent/rpc-protocol/messages";
import { contentText } from "@tau-agent/rpc-protocol/plain";
import { type DiagnosticsEntry, SettingsStore } from "@tau-agent/system";
import { describe, expect, it } from "vitest";
import { eventually } from "../../system/src/processes/__fixtures__/workspace.ts";
import {
  createTestSession,
  placesIn,
  temporaryFolder,
} from "../src/create/__fixtures__/test-session.ts";
import type { CreateAgentSessionOptions } from "../src/create/options/session-options.ts";

type Call = ReturnType<typeof toolCall>;
type Step = Call | (() => Call | undefined | Promise<Call | undefined>);
type Settings = Parameters<typeof SettingsStore.inMemory>[0];

const fixture = join(import.meta.dirname, "../src/diagnostics/__fixtures__/language-server.mjs");
/** A limit that no test reaches, for tests that are not about time limits. */
const patient = 60_000;

const write = (path: string, content: string) => toolCall("write", { path, content });
const edit = (path: string, oldText: string, newText: string) =>
  toolCall("edit", { path, oldText, newText });
const bash = (command: string) => toolCall("bash", { command });

/** Runs the calls in a project, one per turn, and returns their results. */
async function project(
  steps: readonly Step[],
  entries: readonly DiagnosticsEntry[] | ((folder: string) => readonly DiagnosticsEntry[]),
  {
    files = {},
    settings = {},
    options = {},
  }: {
    files?: Record<string, string>;
    settings?: Settings;
    options?: Partial<CreateAgentSessionOptions>;
  } = {},
) {
  const folder = temporaryFolder();
  const places = placesIn(folder);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(places.cwd, name)), { recursive: true });
    writeFileSync(join(places.cwd, name), text);
  }
  const given = typeof entries === "function" ? entries(folder) : entries;
  let at = 0;
  const test = await createTestSession(
    async () => {
      const step = steps[at++];
      if (step === undefined) return "done";
      const call = typeof step === "function" ? await step() : step;
      return call === undefined ? "done" : turn(call);
    },
    {
      ...places,
      settings: SettingsStore.inMemory({
        "diagnostics.entries": given,
        diagnosticsTimeoutMs: patient,
        ...settings,
      }),
      ...options,
    },
  );
  await test.session.prompt("go");
  const results = test.session.messages
    .filter((message): message is ToolResultMessage => message.role === "toolResult")
    .map((result) => ({
      text: contentText(result.content, "\n"),
      isError: result.isError,
      found: (result.details as { diagnostics?: { new: unknown[]; baseline: boolean } } | undefined)
        ?.diagnostics,
    }));
  return { ...test, results, cwd: places.cwd, folder };
}

/** Calls on other files, half a second apart: the result of one of them contains the late problems. */
const untilTold: readonly Step[] = Array.from({ length: 12 }, () => async () => {
  await new Promise((resolve) => setTimeout(resolve, 500));
  return write("other.md", "x");
});

/** A command that reports each line of the file that contains BAD. */
const finder: DiagnosticsEntry = {
  match: "*.txt",
  command: 'awk \'/BAD/ {print FILENAME ":" FNR ":1: error: bad " $2}\' {file}',
};
const server =
  (behaviour = "well", log = "") =>
  (folder: string): DiagnosticsEntry[] => [
    {
      match: "**/*.txt",
      server: [process.execPath, fixture, behaviour, ...(log && [join(folder, log)])],
    },
  ];

describe.each([
  ["a command", () => [finder]],
  ["a server", server()],
  ["a server that is asked", server("pull")],
  ["a server that does not name versions", server("unversioned")],
  ["a server that reports in steps", server("steps")],
  ["a server whose steps take long", server("slow")],
  ["a server with news of an older text", server("stale")],
])("problems found by %s", (_title, entries) => {
  it("are appended to the result of the call that caused them, and leave out other problems", async () => {
    const { results } = await project(
      [
        edit("a.txt", "three", "three\nBAD new"),
        edit("a.txt", "BAD new", "fine"),
        write("b.txt", "BAD first\n"),
        edit("other.md", "x", "BAD y"),
      ],
      entries,
      { files: { "a.txt": "BAD old\nthree\n", "other.md": "x" } },
    );
    const [broken, mended, made, other] = results;
    expect(broken?.text).toMatch(
      /^Successfully replaced text in a\.txt\.\n\nNew problems:\na\.txt:3:1: error .*bad.*new$/,
    );
    expect(broken?.found).toMatchObject({
      baseline: true,
      new: [{ file: "a.txt", line: 3, severity: "error" }],
    });
    expect(mended).toMatchObject({
      text: "Successfully replaced text in a.txt.",
      found: { new: [], baseline: true },
    });
    expect(made?.found).toMatchObject({ baseline: true, new: [{ file: "b.txt", line: 1 }] });
    expect(other).toMatchObject({
      text: "Successfully replaced text in other.md.",
      found: undefined,
    });
  });

  it("do not include those of a bash command: the baseline is taken again", async () => {
    const { results } = await project(
      [
        edit("a.txt", "one", "two"),
        bash("echo 'BAD by bash' >> a.txt"),
        edit("a.txt", "two", "three"),
      ],
      entries,
      { files: { "a.txt": "one\n" } },
    );
    expect(results[2]).toMatchObject({ found: { new: [], baseline: true } });
  });
});

describe("without entries", () => {
  it("runs no checks and leaves results unchanged", async () => {
    const { results } = await project([write("a.txt", "BAD")], []);
    expect(results[0]).toMatchObject({
      text: "Successfully wrote 3 bytes to a.txt",
      found: undefined,
    });
  });
});

describe("a diagnostics command", () => {
  it("reports all members of its JSON lines, and ignores other files and other lines", async () => {
    const line = JSON.stringify({
      file: "a.txt",
      line: 2,
      column: 3,
      severity: "warning",
      message: "odd",
      code: "X1",
    });
    const other = JSON.stringify({ file: "b.txt", line: 1, message: "not of this file" });
    const entries: DiagnosticsEntry[] = [
      {
        match: "*.txt",
        command: `grep -q BAD {file} && echo '${line}' && echo '${other}'; true`,
        format: "json-lines",
      },
    ];
    const { results } = await project([write("a.txt", "BAD")], entries);
    expect(results[0]?.found?.new).toEqual([
      { file: "a.txt", line: 2, column: 3, severity: "warning", message: "odd", code: "X1" },
    ]);
  });

  it("gets the path as a single argument, whatever characters it contains", async () => {
    const name = 'it\'s $(touch hacked) "a".txt';
    const { results, cwd } = await project([write(name, "BAD x")], [finder]);
    expect(results[0]?.found?.new).toHaveLength(1);
    expect(existsSync(join(cwd, "hacked"))).toBe(false);
  });

  it("is reported once when it fails, and the calls succeed", async () => {
    const entries: DiagnosticsEntry[] = [{ match: "*.txt", command: "no-such-linter {file}" }];
    const { results, session } = await project([write("a.txt", "x"), write("a.txt", "y")], entries);
    expect(results.map(({ isError }) => isError)).toEqual([false, false]);
    const noted = session.diagnostics.filter(({ code }) => code === "diagnostics_failed");
    expect(noted).toHaveLength(1);
    expect(noted[0]?.message).toContain("no-such-linter");
  });

  it("reports late problems with the next call on any file", async () => {
    const gate = (folder: string) => join(folder, "gate");
    const slow = (folder: string): DiagnosticsEntry[] => [
      {
        match: "slow.txt",
        command: `while [ ! -e '${gate(folder)}' ]; do sleep 0.05; done; echo "slow.txt:1:1: error: late"; touch '${folder}/told'`,
      },
    ];
    let folder = "";
    const { results } = await project(
      [
        write("slow.txt", "x"),
        async () => {
          writeFileSync(gate(folder), "");
          expect(await eventually(() => existsSync(join(folder, "told")), 60_000)).toBe(true);
          return write("other.md", "y");
        },
        ...untilTold,
      ],
      (given) => {
        folder = given;
        return slow(given);
      },
      { settings: { diagnosticsTimeoutMs: 300 } },
    );
    expect(results[0]?.found).toBeUndefined();
    const told = results.filter(({ text }) => text.includes("slow.txt:1:1: error late"));
    expect(told).toHaveLength(1);
  });

  it("reports all problems if there is no baseline, and says so", async () => {
    const entries = (folder: string): DiagnosticsEntry[] => [
      // The first run hangs; all others answer.
      {
        match: "*.txt",
        command: `if [ ! -e '${folder}/ran' ]; then touch '${folder}/ran'; sleep 600; fi; ${"command" in finder ? finder.command : ""}`,
      },
    ];
    const files = { "a.txt": "BAD old\none\n" };
    const settings = { diagnosticsTimeoutMs: 20_000 };
    const { results } = await project([edit("a.txt", "one", "two")], entries, { files, settings });
    expect(results[0]?.found).toMatchObject({ baseline: false, new: [{ line: 1 }] });
  });
});

describe("a diagnostics server", () => {
  it("starts once, with the first file that matches, and ends with the session", async () => {
    let log = "";
    const entries = (folder: string) => {
      log = join(folder, "log");
      return server("well", "log")(folder);
    };
    const { session } = await project(
      [
        write("a.md", "x"),
        () => {
          expect(existsSync(log)).toBe(false);
          return write("a.txt", "x");
        },
        write("b.txt", "y"),
      ],
      entries,
    );
    const starts = readFileSync(log, "utf8").match(/^start (\d+)$/gm) ?? [];
    expect(starts).toHaveLength(1);
    const pid = Number(starts[0]?.slice(6));
    expect(() => process.kill(pid, 0)).not.toThrow();
    await session.dispose();
    expect(await eventually(() => !isRunning(pid), 20_000)).toBe(true);
  });

  it.each(["crash", "refuse"])(
    "is restarted once and then reported when its behaviour is %s",
    async (behaviour) => {
      let log = "";
      const { results, session } = await project(
        [write("a.txt", "BAD"), write("a.txt", "BAD 2"), write("b.txt", "x")],
        (folder) => {
          log = join(folder, "log");
          return server(behaviour, "log")(folder);
        },
      );
      expect(results.map(({ isError, found }) => [isError, found])).toEqual(
        results.map(() => [false, undefined]),
      );
      expect(readFileSync(log, "utf8").match(/^start/gm)).toHaveLength(2);
      const noted = session.diagnostics.filter(({ code }) => code === "diagnostics_failed");
      expect(noted).toHaveLength(1);
      expect(noted[0]?.message).toContain("was started twice");
    },
  );

  it("is reported when its program is missing, and the calls succeed", async () => {
    const entries: DiagnosticsEntry[] = [{ match: "*.txt", server: ["no-such-server", "--stdio"] }];
    const { results, session } = await project([write("a.txt", "x")], entries);
    expect(results[0]?.isError).toBe(false);
    expect(session.diagnostics.some(({ message }) => message.includes("no-such-server"))).toBe(
      true,
    );
  });

  it.each(["hang", "silent"])(
    "delays a call no longer than its limit, and soon not at all, when its behaviour is %s",
    async (behaviour) => {
      const steps = Array.from({ length: 8 }, (_, at) => write(`${at}.txt`, "x"));
      const settings = { diagnosticsTimeoutMs: 2_000 };
      const began = performance.now();
      const { results } = await project(steps, server(behaviour), { settings });
      expect(results.every(({ isError }) => !isError)).toBe(true);
      // Two calls wait for the server; eight would take sixteen seconds.
      expect(performance.now() - began).toBeLessThan(14_000);
    },
  );

  it("is ended when it floods its output, without filling the host's memory", async () => {
    const before = process.memoryUsage().rss;
    const { results } = await project([write("a.txt", "x")], server("flood"), {});
    expect(results[0]?.isError).toBe(false);
    expect(process.memoryUsage().rss - before).toBeLessThan(700 * 1024 * 1024);
  });

  it("reports late problems with the next call", async () => {
    const settings = { diagnosticsTimeoutMs: 500 };
    const { results } = await project([write("a.txt", "BAD one"), ...untilTold], server("late"), {
      settings,
    });
    expect(results[0]?.found).toBeUndefined();
    const told = results.filter(({ found }) => found !== undefined);
    expect(told).toMatchObject([{ found: { new: [{ file: "a.txt", line: 1 }] } }]);
  });
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { toolCall, turn } from "@tau-agent/ai/testing";
import { describe, expect, it, vi } from "vitest";
import { atPace } from "./pace.ts";
import { fact, Screen, wrap } from "./screen.ts";
import { TaskBoard } from "./task-board.ts";

const stage = { columns: 80, pause: async () => {} };

/** What is printed during a function. */
function printed(act: () => void): string {
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  const log = vi.spyOn(console, "log").mockReturnValue();
  try {
    act();
    const logged = log.mock.calls.map(([line]) => `${line}\n`);
    return [...write.mock.calls.map(([text]) => String(text)), ...logged].join("");
  } finally {
    write.mockRestore();
    log.mockRestore();
  }
}

describe("the board of tasks", () => {
  const act = (isLive: boolean) => () => {
    const board = new TaskBoard({ ...stage, isLive }, ["one", "two"]);
    board.setActivity("two", "writing");
    board.addCheck("two", { name: "tests", attempt: 1, hasPassed: false });
    board.setOutcome("two", "discarded");
  };

  it("draws its rows again in place on a terminal", () => {
    const output = printed(act(true));
    expect(output.split("\u001b[2A")).toHaveLength(4);
    const last = stripVTControlCharacters(output.split("\u001b[2A").at(-1) ?? "");
    expect(last).toMatch(/^ {2}one +waiting +\n {2}two +back +✖ tests +discarded\n$/);
  });

  it("prints a line for each change elsewhere", () => {
    expect(printed(act(false))).toBe(
      "  two       writing\n  two       attempt 1: tests fails\n  two       discarded\n",
    );
  });

  it("keeps rows within narrow terminals, so that they can be drawn again", () => {
    const output = printed(() => {
      const board = new TaskBoard({ ...stage, columns: 40, isLive: true }, ["one"]);
      for (const attempt of [1, 2, 3]) {
        board.addCheck("one", { name: "tests", attempt, hasPassed: true });
      }
      board.setOutcome("one", "applied: a-rather-long-name-of-a-file.md");
    });
    const lines = stripVTControlCharacters(output).split("\n");
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(40);
  });
});

describe("the screen", () => {
  it("breaks the model's text between words, however its pieces come", () => {
    const text = `${"seven words of a text and more ".repeat(9).trim()}\n\n  two lines below`;
    const shown = (size: number) =>
      printed(() => {
        const screen = new Screen();
        const say = (step: object) =>
          screen.show({ type: "message_update", assistantMessageEvent: step } as never);
        for (let at = 0; at < text.length; at += size) {
          say({ type: "text_delta", delta: text.slice(at, at + size) });
        }
        say({ type: "text_end" });
      });
    const [whole, pieces] = [shown(1000), shown(3)];
    expect(pieces).toBe(whole);
    const lines = whole.split("\n");
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(100);
    expect(lines.slice(1, 4).join(" ")).toBe(text.split("\n")[0]);
    expect(whole).toMatch(/more\n\n {2}two lines below\n$/);
  });

  it("gives a path that has no room beside its name a line of its own", () => {
    const path = `/tmp/${"x".repeat(90)}`;
    expect(printed(() => fact("File", path))).toBe(`File:\n  ${path}\n`);
    expect(printed(() => fact("File", "/tmp/x"))).toBe("File:      /tmp/x\n");
  });

  it("keeps every word of a line of output, and shows where it leaves out the rest", () => {
    expect(wrap("    const a =   1;", 60)).toEqual(["    const a =   1;"]);
    expect(wrap("  aa bb cc", 7)).toEqual(["  aa bb", "  cc"]);
    expect(wrap("x".repeat(30), 10)).toEqual(["x".repeat(30)]);
  });
});

describe("the pace of the scripted model", () => {
  it("is readable for viewers, and does not hold up anybody else", () => {
    const reply = turn(["Let me look.", toolCall("ls", {})]);
    expect(atPace(reply, false).delayMs).toBeUndefined();
    const { content } = atPace(reply, true);
    expect(content).toMatchObject([{ type: "text", delayMs: 20 }, { type: "toolCall" }]);
  });
});

describe("the preparation", () => {
  const quietly = (command: string, home: string) => {
    const module = new URL("quietly.ts", import.meta.url).href;
    const program = `import { quietly } from ${JSON.stringify(module)};
      await quietly("Building", ${JSON.stringify(command)}); console.log("ready");`;
    const env = { ...process.env, NO_COLOR: "1", TMPDIR: home, TEMP: home };
    const words = ["--input-type=module", "-e", program];
    return spawnSync(process.execPath, words, { env, encoding: "utf8" });
  };

  it("takes one line, with its output in a file", () => {
    const home = mkdtempSync(join(tmpdir(), "tau-example-"));
    const { stdout, status } = quietly("echo much; echo ado", home);
    const [, log = ""] = /^Building: \S+ s \(log: (.+)\)\nready\n$/.exec(stdout) ?? [];
    expect(readFileSync(log, "utf8")).toBe("much\nado\n");
    expect(status).toBe(0);
    rmSync(home, { recursive: true });
  });

  it("shows the end of the output when it fails, and stops", () => {
    const home = mkdtempSync(join(tmpdir(), "tau-example-"));
    const { stdout, status } = quietly("seq 100; echo broken >&2; exit 3", home);
    expect(stdout).toMatch(/^Building failed\. The end of \S+build\.log:\n77\n/);
    expect(stdout).toMatch(/100\nbroken\n$/);
    expect(status).toBe(3);
    rmSync(home, { recursive: true });
  });
});

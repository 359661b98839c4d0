import { describe, expect, it } from "vitest";
import { readHostLine } from "../command-line/read-host-line.ts";
import { readEnvironment } from "../process/environment.ts";
import { subcommands } from "./index.ts";
import { refuseLateSubcommand, runSubcommand } from "./run-subcommand.ts";

const printed: string[] = [];
const context = {
  output: {
    write: (_text: string, onWritten?: () => void) => {
      onWritten?.();
      return true;
    },
    onDrain() {},
    onClosed() {},
  },
  print: (text: string) => void printed.push(text),
  environment: readEnvironment(),
};

/** What is said of a command line; empty when it is for the host. */
const refusal = async (...words: string[]): Promise<string> => {
  try {
    const outcome = await runSubcommand(words, context);
    if (outcome.kind === "run") return `ran: ${outcome.exitCode}`;
    refuseLateSubcommand(readHostLine(words));
    return "";
  } catch (error) {
    return (error as Error).message;
  }
};

describe("the first word", () => {
  it.each(subcommands.map(({ name }) => name))("%s is a command only there", async (name) => {
    expect(await refusal("--offline", name)).toContain("must be the first word");
    expect(await refusal("-p", name)).toBe("");
    expect(await refusal("hello", name)).toBe("");
  });

  it("is refused when it is nearly a command", async () => {
    expect(await refusal("instal", "npm:thing", "-l")).toContain("the nearest is install");
    expect(await refusal("conifg")).toContain("the nearest is config");
    expect(await refusal("--offline", "rewnd")).toContain("the nearest is rewind");
    expect(await refusal("rewnd", "-p")).toBe("");
  });

  it("is a prompt otherwise", async () => {
    for (const word of ["hi", "test", "fix", "go", "explain this", "list the files", "map"]) {
      expect(await refusal(word), word).toBe("");
    }
    expect(await refusal("hello", "install")).toBe("");
    expect(await refusal("--export", "s.jsonl", "list")).toBe("");
  });
});

describe("each subcommand", () => {
  const table = subcommands.filter(({ name }) => name !== "conformance" && name !== "acp");

  it.each(table)("$name names what is near an unknown option", async ({ name }) => {
    expect(await refusal(name, "--hepl")).toBe(
      "Invalid option --hepl: there is no such option; the nearest is --help",
    );
    expect(await refusal(name, "-q")).toContain("Invalid option -q: there is no such option");
  });

  it.each(subcommands)("$name has help", async ({ name, summary, options }) => {
    printed.length = 0;
    expect(await refusal(name, "--help")).toBe("ran: 0");
    if (name === "conformance") return;
    const text = printed.join("");
    expect(text).toContain(summary);
    for (const option of Object.keys(options)) expect(text).toContain(`--${option}`);
    expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThanOrEqual(100);
    printed.length = 0;
    expect(await refusal("help", name)).toBe("ran: 0");
    // A topic of the same name comes before it.
    expect(printed.join("").endsWith(text)).toBe(true);
  });

  it("conformance has the options of its kit", async () => {
    const written: string[] = [];
    const write = (text: string, done?: () => void) => {
      written.push(text);
      done?.();
      return true;
    };
    const command = subcommands.find(({ name }) => name === "conformance");
    await command?.run(["--help"], {
      ...context,
      commands: [],
      output: { ...context.output, write },
    });
    const kit = written.join("").match(/--[\w-]+(?= )/g);
    const own = Object.keys(command?.options ?? {}).map((name) => `--${name}`);
    expect(own).toEqual(
      expect.arrayContaining([...new Set(kit)].filter((one) => one !== "--mode")),
    );
  });

  it("refuses an unknown action, with the nearest", async () => {
    const text = await refusal("mcp", "lsit");
    expect(text).toContain("expected add, list, test");
    expect(text).toContain("the nearest is list");
  });
});

describe("tau help", () => {
  it("fits a terminal", async () => {
    printed.length = 0;
    await refusal("help");
    const lines = printed.join("").trimEnd().split("\n");
    expect(lines.length).toBeLessThanOrEqual(50);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
    for (const { name } of subcommands) expect(printed.join("")).toContain(`  ${name} `);
  });

  it.each(["options", "models", "environment"])("explains %s", async (topic) => {
    printed.length = 0;
    expect(await refusal("help", topic)).toBe("ran: 0");
    const lines = printed.join("").split("\n");
    expect(lines.length).toBeGreaterThan(10);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
  });

  it("names the nearest topic", async () => {
    expect(await refusal("help", "optoins")).toContain("the nearest is options");
    expect(await refusal("help", "rewnd")).toContain("the nearest is rewind");
  });
});

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
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

/** The error for a command line; empty if the command line is valid for the host. */
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
  it.each(subcommands.map(({ name }) => name))(
    "accepts %s as a command only in first position",
    async (name) => {
      expect(await refusal("--offline", name)).toContain("must be the first word");
      expect(await refusal("-p", name)).toBe("");
      expect(await refusal("hello", name)).toBe("");
    },
  );

  it("is rejected when it misspells a command", async () => {
    expect(await refusal("instal", "npm:thing", "-l")).toContain("the nearest is install");
    expect(await refusal("conifg")).toContain("the nearest is config");
    expect(await refusal("mpc", "list")).toContain("the nearest is mcp;");
    expect(await refusal("--offline", "rewnd")).toContain("the nearest is rewind");
    expect(await refusal("rewnd", "-p")).toBe("");
  });

  it("is rejected when it is, or misspells, an action of a command", async () => {
    expect(await refusal("login")).toContain("the nearest is auth login;");
    expect(await refusal("logni", "anthropic")).toContain("the nearest is auth login;");
    expect(await refusal("--offline", "login")).toContain("the nearest is auth login;");
    expect(await refusal("unset", "defaultModel")).toContain("the nearest is config unset;");
    expect(await refusal("login", "-p")).toBe("");
  });

  it("is rejected when it is the only word and not a command", async () => {
    for (const word of ["doctor", "hello", "version"]) {
      expect(await refusal(word)).toBe(
        `Invalid option ${word}: there is no such command; tau help lists them; to send the word as a prompt, add -p`,
      );
      expect(await refusal(word, "--offline")).toBe("");
    }
  });

  it("is a prompt in all other cases", async () => {
    const prompts = ["explain this", "list the files", "/review", "hi!", "修复这个错误"];
    for (const word of prompts) expect(await refusal(word), word).toBe("");
    for (const word of ["fix", "explain", "go", "why"]) {
      expect(await refusal(word, "the", "parser"), word).toBe("");
    }
    expect(await refusal("hello", "install")).toBe("");
    expect(await refusal("--export", "s.jsonl", "list")).toBe("");
  });
});

describe("each subcommand", () => {
  const table = subcommands.filter(({ name }) => name !== "acp");

  it.each(table)("$name suggests the nearest known option", async ({ name }) => {
    expect(await refusal(name, "--hepl")).toBe(
      "Invalid option --hepl: there is no such option; the nearest is --help",
    );
    expect(await refusal(name, "-q")).toContain("Invalid option -q: there is no such option");
  });

  it.each(subcommands)("$name prints its help", async ({ name, summary, options }) => {
    printed.length = 0;
    expect(await refusal(name, "--help")).toBe("ran: 0");
    const text = printed.join("");
    expect(text).toContain(summary);
    for (const option of Object.keys(options)) expect(text).toContain(`--${option}`);
    expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThanOrEqual(100);
    printed.length = 0;
    expect(await refusal("help", name)).toBe("ran: 0");
    // If a help topic has the same name, its text comes first.
    expect(printed.join("").endsWith(text)).toBe(true);
  });

  it("rejects an unknown action and suggests the nearest", async () => {
    const text = await refusal("mcp", "lsit");
    expect(text).toContain("expected add, list, test");
    expect(text).toContain("the nearest is list");
    expect(await refusal("completion", "bsh")).toContain("the nearest is bash");
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

  it("names the variables that set the addresses of providers", async () => {
    printed.length = 0;
    await refusal("help", "environment");
    const known = /[A-Z_]+_BASE_URL|OLLAMA_HOST|AZURE_OPENAI_RESOURCE_NAME/g;
    expect([...new Set(printed.join("").match(known))].sort()).toEqual([
      "ANTHROPIC_BASE_URL",
      "AZURE_OPENAI_BASE_URL",
      "AZURE_OPENAI_RESOURCE_NAME",
      "GOOGLE_GEMINI_BASE_URL",
      "OLLAMA_HOST",
      "OPENAI_BASE_URL",
    ]);
  });

  it("acp --help fits a screen", async () => {
    printed.length = 0;
    await refusal("acp", "--help");
    const lines = printed.join("").trimEnd().split("\n");
    expect(lines.length).toBeLessThanOrEqual(50);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
  });

  it.each(["options", "models", "environment", "settings", "editors"])(
    "explains %s",
    async (topic) => {
      printed.length = 0;
      expect(await refusal("help", topic)).toBe("ran: 0");
      const lines = printed.join("").split("\n");
      expect(lines.length).toBeGreaterThan(10);
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
    },
  );

  it("help and error texts mention no page that is not published", () => {
    const root = fileURLToPath(new URL("../../../../", import.meta.url));
    const packages = readdirSync(join(root, "packages")).filter((name) => name !== "pi");
    const folders = ["apps/cli", ...packages.map((name) => `packages/${name}`)];
    const srcFiles = folders.flatMap((folder) =>
      readdirSync(join(root, folder, "src"), { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(".ts") && !/\.test\.ts$|__fixtures__/.test(name))
        .map((name) => join(root, folder, "src", name)),
    );
    const naming = srcFiles.filter((file) =>
      readFileSync(file, "utf8")
        .split("\n")
        .some((line) => /docs\/[\w-]+\.md/.test(line) && !/^\s*(?:\/\/|\/?\*)/.test(line)),
    );
    expect(naming).toEqual([]);
  });

  it("names the nearest topic", async () => {
    expect(await refusal("help", "optoins")).toContain("the nearest is options");
    expect(await refusal("help", "rewnd")).toContain("the nearest is rewind");
  });
});

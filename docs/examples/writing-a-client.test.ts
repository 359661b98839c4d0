import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { commandFolder } from "./run-program.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(join(root, "docs/writing-a-client.md"), "utf8");
const block = /<!-- host: (.+) -->\n```transcript\n([\s\S]*?)```/g;
const transcripts = [...page.matchAll(block)].map(([, options = "", text = ""], index) => ({
  title: `${index + 1}: ${options}`,
  options: options.split(" "),
  lines: text.trim().split("\n"),
}));

/** Plays one side of a transcript against a host and compares the other. */
class Player {
  readonly #host: ChildProcess;
  readonly #frames: AsyncIterator<string>;
  readonly #names = new Map<string, string>();
  #mayBeMore = false;

  constructor(host: ChildProcess) {
    this.#host = host;
    if (host.stdout === null) throw new Error("The host has no stdout");
    this.#frames = createInterface({ input: host.stdout })[Symbol.asyncIterator]();
  }

  async play(line: string): Promise<void> {
    const [sign, rest] = [line.slice(0, 2), line.slice(2)];
    if (line === "< …") this.#mayBeMore = true;
    else if (line === "> (stdin closed)") this.#host.stdin?.end();
    else if (line === "< (exit 0)") expect(await this.#exitCode()).toBe(0);
    else if (sign === "> ") this.#send(rest);
    else if (sign === "< ") await this.#expect(JSON.parse(rest));
    else throw new SyntaxError(line);
  }

  #send(line: string): void {
    const named = line.replace(/"(=\w+)"/g, (_, name: string) => `"${this.#names.get(name)}"`);
    this.#host.stdin?.write(`${named}\n`);
  }

  async #expect(pattern: unknown): Promise<void> {
    for (;;) {
      const { value, done } = await this.#frames.next();
      if (done === true) throw new Error(`The host ended before ${JSON.stringify(pattern)}`);
      const frame = withoutOrder(JSON.parse(value));
      if (this.#fits(pattern, frame)) break;
      // If the transcript leaves nothing out, the failure shows what the host sent instead.
      if (!this.#mayBeMore) expect(frame).toEqual(pattern);
    }
    this.#mayBeMore = false;
  }

  #fits(pattern: unknown, value: unknown): boolean {
    if (pattern === "…") return true;
    if (typeof pattern === "string" && pattern.startsWith("=")) {
      this.#names.set(pattern, String(value));
      return true;
    }
    if (typeof pattern !== "object" || pattern === null) return pattern === value;
    if (typeof value !== "object" || value === null) return false;
    const { "…": more, ...members } = pattern as Record<string, unknown>;
    const isComplete =
      more !== undefined || Object.keys(members).length === Object.keys(value).length;
    const found = value as Record<string, unknown>;
    return (
      isComplete &&
      Array.isArray(pattern) === Array.isArray(value) &&
      Object.entries(members).every(([name, member]) => this.#fits(member, found[name]))
    );
  }

  async #exitCode(): Promise<number | null> {
    // A pipe that is not read to its end is never closed.
    while ((await this.#frames.next()).done !== true);
    if (this.#host.exitCode === null) await once(this.#host, "exit");
    return this.#host.exitCode;
  }
}

/** The page names the members once that every event has. */
function withoutOrder({ promptId: _, seq: __, ...frame }: Record<string, unknown>): unknown {
  return frame;
}

describe("docs/writing-a-client.md", () => {
  it.each(transcripts)("shows what the host sends in transcript $title", async (transcript) => {
    const home = mkdtempSync(join(tmpdir(), "tau-page-"));
    writeFileSync(join(home, "only-file.txt"), "");
    const options = transcript.options.map((option) =>
      /^(?:docs|clients)\//.test(option) ? join(root, option) : option,
    );
    const path = [commandFolder, dirname(process.execPath), process.env.PATH].join(delimiter);
    const host = spawn("tau", ["--mode", "rpc", "--no-session", ...options], {
      cwd: home,
      env: { ...process.env, PATH: path, PI_CODING_AGENT_DIR: join(home, ".agent") },
      stdio: ["pipe", "pipe", "inherit"],
    });
    try {
      const player = new Player(host);
      for (const line of transcript.lines) await player.play(line);
    } finally {
      host.kill("SIGKILL");
      rmSync(home, { recursive: true });
    }
  });

  it("has a transcript for each part of the conversation", () => {
    expect(transcripts.length).toBeGreaterThanOrEqual(6);
  });

  it("refers to existing files", () => {
    for (const [, link = ""] of page.matchAll(/\]\(([^)#]+)\)/g)) {
      if (!link.startsWith("http")) expect(() => readLink(link), link).not.toThrow();
    }
  });
});

function readLink(link: string): void {
  try {
    readFileSync(join(root, "docs", link));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EISDIR") throw error;
  }
}

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Child, type Environment } from "./child.ts";

/** A separate environment for hosts: a home without keys, a project, and a model at `baseUrl`. */
export class Workspace implements Disposable {
  readonly cwd: string;
  readonly agentDirectory: string;
  readonly #children: Child[] = [];
  readonly #root = mkdtempSync(join(tmpdir(), "tau-bench-"));

  constructor(baseUrl = "http://127.0.0.1:9/v1") {
    this.cwd = join(this.#root, "project");
    this.agentDirectory = join(this.#root, "home", ".pi", "agent");
    mkdirSync(this.cwd);
    mkdirSync(this.agentDirectory, { recursive: true });
    writeFileSync(join(this.cwd, "note.txt"), "A short file.\n");
    const models = [{ id: "bench", contextWindow: 100_000_000, maxTokens: 1_000_000 }];
    const bench = { baseUrl, apiKey: "bench", api: "openai-completions", models };
    writeFileSync(
      join(this.agentDirectory, "models.json"),
      JSON.stringify({ providers: { bench } }),
    );
  }

  get env(): Environment {
    const home = join(this.#root, "home");
    return {
      PATH: process.env.PATH,
      HOME: home,
      PI_CODING_AGENT_DIR: this.agentDirectory,
      // Keeps hosts from looking for newer versions or models.
      PI_OFFLINE: "1",
    };
  }

  command(host: readonly [string, ...string[]], args: readonly string[] = []): Command {
    return [...host, "--mode", "rpc", "--provider", "bench", "--model", "bench", ...args];
  }

  /** Writes a file of the project. */
  write(name: string, text: string): void {
    writeFileSync(join(this.cwd, name), text);
  }

  /** Writes the user's settings. */
  configure(settings: object): void {
    writeFileSync(join(this.agentDirectory, "settings.json"), JSON.stringify(settings));
  }

  spawn(command: Command, env: Environment = this.env): Child {
    const child = new Child(command, { cwd: this.cwd, env });
    this.#children.push(child);
    return child;
  }

  /** Starts a host and waits until it answers; `stream` is the form of its replies. */
  async startHost(
    host: readonly [string, ...string[]],
    options: { stream?: "full" | "delta"; args?: readonly string[] } = {},
  ): Promise<Child> {
    const child = this.spawn(this.command(host, options.args ?? ["--no-session"]));
    if (options.stream) await child.request("initialize", { stream: options.stream });
    await child.request("get_state");
    return child;
  }

  [Symbol.dispose](): void {
    for (const child of this.#children) child.kill();
    rmSync(this.#root, { recursive: true, force: true });
  }
}

type Command = readonly [string, ...string[]];

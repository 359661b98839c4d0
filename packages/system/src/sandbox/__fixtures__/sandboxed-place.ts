import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FileQueue } from "../../base/files/file-queue.ts";
import type { ToolEnvironment } from "../../processes/environment.ts";
import type { CommandOutcome } from "../../processes/environment.ts";
import { ProcessRegistry } from "../../processes/process-registry.ts";
import { LocalWorkspace } from "../../workspaces/local/local-workspace.ts";
import { runShellCommand } from "../../processes/shell-command.ts";
import type { Workspace } from "@tau-agent/rpc-protocol/workspace";
import type { Sandbox } from "../../processes/sandbox.ts";
import { connectWorkspace } from "../../workspaces/carrier/connect-workspace.ts";
import { openSandbox } from "../open-sandbox.ts";
import { openSandboxElsewhere } from "../open-sandbox-elsewhere.ts";
import { noSandbox, type SandboxPolicy } from "../policy/sandbox-settings.ts";

/**
 * A project, a home and something worth stealing, outside of the folders that a sandbox replaces with private ones.
 */
export class SandboxedPlace {
  readonly root = realpathSync(mkdtempSync("/var/tmp/tau-escape-"));
  readonly project = join(this.root, "home", "project");
  readonly home = join(this.root, "home");
  readonly agentDirectory = join(this.root, "home", ".pi", "agent");
  readonly outside = join(this.root, "outside");
  readonly temporaryDirectory = join(this.root, "tmp");
  readonly processes = new ProcessRegistry({});
  readonly environment: Record<string, string | undefined>;
  /** Files with keys outside of the agent directory. */
  readonly keyFiles: string[] = [];
  sandbox: Sandbox | undefined;
  /** Where the tools act if that is behind an exec server. */
  elsewhere: Workspace | undefined;
  #connection: Workspace | undefined;

  constructor() {
    const folders = [this.project, this.agentDirectory, this.outside, this.temporaryDirectory];
    for (const folder of folders) mkdirSync(folder, { recursive: true });
    writeFileSync(join(this.agentDirectory, "auth.json"), "the-secret");
    writeFileSync(join(this.agentDirectory, "settings.json"), "{}");
    writeFileSync(join(this.outside, "file"), "untouched");
    this.environment = { PATH: process.env.PATH, HOME: this.home };
    this.git("init", "--quiet", "--initial-branch=main");
    writeFileSync(join(this.project, "file.txt"), "one\n");
    this.git("add", ".");
    this.git("commit", "--quiet", "--message", "first");
  }

  /** Runs git in the project, as its user. */
  git(...args: string[]): string {
    const identity = ["-c", "user.name=T", "-c", "user.email=t@example.com"];
    const options = { cwd: this.project, encoding: "utf8", env: { ...process.env, HOME: this.home } } as const;
    return execFileSync("git", [...identity, ...args], options);
  }

  async enter(policy: Partial<SandboxPolicy> = {}): Promise<this> {
    const places = {
      cwd: () => this.project,
      homeDirectory: this.home,
      agentDirectory: this.agentDirectory,
      temporaryDirectory: this.temporaryDirectory,
      environment: this.environment,
      keyFiles: this.keyFiles,
    };
    const opened = await openSandbox({ ...noSandbox, mode: "workspace", ...policy }, places, {
      environment: {},
      runCommand: async () => "",
    });
    this.sandbox = opened.sandbox;
    return this;
  }

  /** Enters the sandbox that an exec server opens for a host on another machine. */
  async enterBehind(command: readonly string[], policy: Partial<SandboxPolicy> = {}): Promise<this> {
    const environment = { ...this.environment, TMPDIR: this.temporaryDirectory };
    const workspace = await connectWorkspace({ command, cwd: this.project }, { environment });
    this.#connection = workspace;
    const place = {
      workspace,
      cwd: () => this.project,
      homeDirectory: this.home,
      here: {
        homeDirectory: this.home,
        agentDirectory: this.agentDirectory,
        temporaryDirectory: this.temporaryDirectory,
        environment: this.environment,
        keyFiles: this.keyFiles,
      },
    };
    const opened = await openSandboxElsewhere(
      { ...noSandbox, mode: "workspace", ...policy },
      place,
      { environment: this.environment, runCommand: async () => "" },
    );
    this.sandbox = opened.sandbox;
    this.elsewhere = opened.workspace;
    return this;
  }

  get tools(): ToolEnvironment {
    const environment = {
      cwd: this.project,
      environment: this.environment,
      homeDirectory: this.home,
      temporaryDirectory: this.temporaryDirectory,
      fileQueue: new FileQueue(),
      processes: this.processes,
      sandbox: this.sandbox,
    };
    return { ...environment, workspace: this.elsewhere ?? new LocalWorkspace(environment) };
  }

  /** Runs a line of bash and returns its output and its outcome. */
  async run(command: string, timeoutMs = 20_000): Promise<{ output: string; outcome: CommandOutcome }> {
    let output = "";
    const outcome = await runShellCommand(this.tools, {
      command,
      timeoutMs,
      onOutput: (chunk) => {
        output += chunk.toString();
        return undefined;
      },
    });
    return { output, outcome };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.processes.killAll();
    await this.sandbox?.close();
    await this.#connection?.dispose?.();
    rmSync(this.root, { recursive: true, force: true });
  }
}

import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ToolCallContext } from "@tau-agent/agent";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import type { ToolEnvironment } from "../environment.ts";
import { FileQueue } from "../../base/files/file-queue.ts";
import { LocalWorkspace, type LocalWorkspaceOptions } from "../../workspaces/local/local-workspace.ts";
import { ProcessRegistry } from "../process-registry.ts";

/** A temporary directory with an environment whose tools work in it. */
export class Workspace {
  readonly directory = mkdtempSync(join(tmpdir(), "tau-tools-"));
  readonly spillDirectory = mkdtempSync(join(tmpdir(), "tau-spill-"));
  readonly processes = new ProcessRegistry();

  /** @param overrides with ripgrep's path for the local workspace; `null` searches without ripgrep */
  environment({
    ripgrep,
    ...overrides
  }: Partial<ToolEnvironment> & Pick<LocalWorkspaceOptions, "ripgrep"> = {}): ToolEnvironment {
    const own = {
      cwd: this.directory,
      environment: { PATH: process.env.PATH, HOME: this.directory },
      homeDirectory: this.directory,
      temporaryDirectory: this.spillDirectory,
      fileQueue: new FileQueue(),
      processes: this.processes,
      ...overrides,
    };
    const local = new LocalWorkspace({
      ...{ ...own, ripgrep },
      outputKeys: () => overrides.createOutputMask?.()?.keys ?? [],
    });
    return { ...own, workspace: overrides.workspace ?? local, outside: () => local.withoutSandbox() };
  }

  path(...parts: string[]): string {
    return join(this.directory, ...parts);
  }

  write(files: Record<string, string | Uint8Array>): void {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(this.path(name)), { recursive: true });
      writeFileSync(this.path(name), content);
    }
  }

  read(name: string): string {
    return readFileSync(this.path(name), "utf8");
  }

  [Symbol.dispose](): void {
    this.processes.killAll();
    rmSync(this.directory, { recursive: true, force: true });
    rmSync(this.spillDirectory, { recursive: true, force: true });
  }
}

/** A call context that records updates. */
export function toolCall(signal = new AbortController().signal) {
  const updates: ToolResult[] = [];
  const call: ToolCallContext = {
    toolCallId: "call_1",
    signal,
    onUpdate: (partial) => updates.push(partial),
  };
  return Object.assign(call, { updates });
}

/** The text blocks of a result. */
export function textOf(result: ToolResult): string {
  return result.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

/** A number of seconds to sleep that distinguishes this sleeper from those of other test runs. */
export function ownSeconds(seconds: number): string {
  return `${seconds}.${String(process.pid).padStart(7, "0")}`;
}

/** Process ids whose command line contains `marker`, zombies left out. */
export function processesWith(marker: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(Number)
    .filter((pid) => {
      const file = `/proc/${pid}/cmdline`;
      try {
        return existsSync(file) && readFileSync(file, "utf8").includes(marker);
      } catch {
        return false;
      }
    });
}

/** Waits until `isTrue` holds, up to a few seconds. */
export async function eventually(isTrue: () => boolean, limitMs = 5000): Promise<boolean> {
  const deadline = performance.now() + limitMs;
  while (performance.now() < deadline) {
    if (isTrue()) return true;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return isTrue();
}

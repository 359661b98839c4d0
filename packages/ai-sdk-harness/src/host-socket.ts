import { spawn } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { env } from "node:process";
import { createInterface } from "node:readline";
import { HarnessError } from "@ai-sdk/harness";
import { type HostCommandOptions, hostCommand, RpcClient } from "@tau-agent/rpc-client";

const STDERR_CHARACTERS = 2_000;

export interface HostSocketOptions extends HostCommandOptions {
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/**
 * Starts a host that outlives this process and listens on a private socket; a suspended turn continues in it.
 * The host ends with its session. Resolves to its address.
 */
export async function startHost(
  options: HostSocketOptions,
  words: readonly string[],
): Promise<string> {
  const folder = join(tmpdir(), `tau-harness-${userInfo().uid}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const name = createHash("sha256").update(randomUUID()).digest("hex").slice(0, 16);
  const path = join(folder, `${name}.sock`);
  const [program, ...first] = hostCommand(options);
  const listen = ["--sessions", "--end-with-sessions", "--listen", `unix:${path}`, ...words];
  const child = spawn(program, [...first, ...listen], {
    cwd: options.cwd,
    env: { ...env, ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr = (stderr + text).slice(-STDERR_CHARACTERS);
  });
  const lines = createInterface({ input: child.stdout });
  await new Promise<void>((resolve, reject) => {
    const fail = (cause?: unknown): void => {
      rmSync(path, { force: true });
      reject(new HarnessError({ message: `The Tau host did not start. ${stderr.trim()}`, cause }));
    };
    child.once("error", fail);
    child.once("exit", () => fail());
    lines.once("line", () => resolve());
  });
  // Detaches the host completely: neither process keeps the other alive.
  lines.close();
  for (const stream of [child.stdout, child.stderr]) stream.destroy();
  child.removeAllListeners();
  child.unref();
  return `unix:${path}`;
}

/** Ends a host if it is still running; lets current work end first. */
export async function endHost(url: string): Promise<void> {
  const client = await RpcClient.connect(url, { reconnect: { maxMs: 0 } }).catch(() => undefined);
  await client?.request("drain", {}).catch(() => {});
  await client?.close();
}

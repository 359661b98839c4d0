import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

/** The bun executable for this machine, from npm. */
export const bunPath = fileURLToPath(import.meta.resolve(`@oven/bun-${platform()}`));

function platform(): string {
  const system = process.platform === "win32" ? "windows" : process.platform;
  return `${system}-${process.arch === "arm64" ? "aarch64" : "x64"}/bin/bun${system === "windows" ? ".exe" : ""}`;
}

/** A call that a client's listener received. */
interface Received {
  readonly listener: string;
  readonly event: Record<string, unknown> & { readonly type?: string };
}

/** A client that runs under bun; its methods are called by name. */
export interface BunClient {
  /** The names of its methods. */
  readonly methods: readonly string[];
  /** All calls that listeners received. */
  readonly received: readonly Received[];
  call(method: string, ...parameters: unknown[]): Promise<unknown>;
}

/** Starts the client that the module `file` exports; it runs until the test ends. */
export async function startBunClient(
  file: URL,
  options: { readonly env: Readonly<Record<string, string>>; readonly [name: string]: unknown },
): Promise<BunClient> {
  const own = (name: string) => fileURLToPath(new URL(name, import.meta.url));
  const child = spawn(
    bunPath,
    [
      "--preload",
      own("replace-natives.mjs"),
      own("run-client.ts"),
      file.href,
      JSON.stringify(options),
    ],
    { env: { ...process.env, ...options.env }, stdio: ["pipe", "pipe", "inherit"] },
  );
  const ended = new Promise((resolve) => child.once("close", resolve));
  onTestFinished(async () => {
    child.stdin.end();
    await ended;
  });
  const received: Received[] = [];
  const pending = new Map<number, PromiseWithResolvers<unknown>>();
  const methods = Promise.withResolvers<readonly string[]>();
  createInterface({ input: child.stdout }).on("line", (text) => {
    const line = JSON.parse(text);
    if (line.methods !== undefined) methods.resolve(line.methods);
    else if (line.listener !== undefined) received.push(line);
    else if (line.error === undefined) pending.get(line.id)?.resolve(line.value);
    else pending.get(line.id)?.reject(Object.assign(new Error(line.error.message), line.error));
  });
  const failure = new Error("The client ended");
  void ended.then(() => {
    methods.reject(failure);
    for (const { reject } of pending.values()) reject(failure);
  });
  let id = 0;
  const call = (method: string, ...parameters: unknown[]) => {
    id += 1;
    const waiting = Promise.withResolvers<unknown>();
    pending.set(id, waiting);
    child.stdin.write(`${JSON.stringify({ id, method, parameters })}\n`);
    return waiting.promise;
  };
  return { methods: await methods.promise, received, call };
}

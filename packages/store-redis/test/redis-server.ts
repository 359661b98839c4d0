import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.ts";

/** Why tests that need Redis do not run; undefined when the machine has a redis-server. */
export const redisIsMissing =
  spawnSync("redis-server", ["--version"]).status === 0
    ? undefined
    : "redis-server is not installed; scripts/install-system-tools.sh installs it where apt-get can";

/** A Redis of a test's own, in a temporary folder. */
export class RedisServer {
  readonly port: number;
  readonly url: string;
  readonly #folder = mkdtempSync(join(tmpdir(), "tau-redis-"));
  #process: ChildProcess | undefined;

  private constructor(port: number) {
    this.port = port;
    this.url = `redis://127.0.0.1:${port}`;
  }

  /** Starts one; with `--name value` words of the server's own. */
  static async start(...words: string[]): Promise<RedisServer> {
    const server = new RedisServer(await freePort());
    await server.start(...words);
    return server;
  }

  /** Starts it, again if it was stopped; what it has acknowledged is still there. */
  async start(...words: string[]): Promise<void> {
    const place = ["--port", String(this.port), "--bind", "127.0.0.1", "--dir", this.#folder];
    const durability = ["--save", "", "--appendonly", "yes", "--appendfsync", "no"];
    const child = spawn("redis-server", [...place, ...durability, ...words], { stdio: "ignore" });
    this.#process = child;
    while (!(await answers(this.port))) {
      if (child.exitCode !== null) throw new Error(`redis-server ended with ${child.exitCode}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Ends it without a chance to say goodbye. */
  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }

  /** Stops it in the middle of whatever it does. */
  pause(): void {
    this.#process?.kill("SIGSTOP");
  }

  /** Lets it go on. */
  resume(): void {
    this.#process?.kill("SIGCONT");
  }

  /** Ends it and removes its files. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, "127.0.0.1");
    socket.on("error", () => resolve(false));
    socket.on("connect", () => socket.write("PING\r\n"));
    socket.on("data", (data) => {
      socket.destroy();
      resolve(String(data).startsWith("+PONG"));
    });
  });
}

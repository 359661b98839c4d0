import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.ts";

/** Why tests that need Redis do not run; undefined if the machine has a redis-server. */
export const redisIsMissing =
  spawnSync("redis-server", ["--version"]).status === 0
    ? undefined
    : "redis-server is not installed; scripts/install-system-tools.sh installs it where apt-get can";

/** A separate Redis for a test, in a temporary folder. */
export class RedisServer {
  readonly port: number;
  readonly url: string;
  readonly #folder = mkdtempSync(join(tmpdir(), "tau-redis-"));
  #process: ChildProcess | undefined;

  private constructor(port: number) {
    this.port = port;
    this.url = `redis://127.0.0.1:${port}`;
  }

  /** Starts a server, with additional `--name value` options. */
  static async start(...words: string[]): Promise<RedisServer> {
    const server = new RedisServer(await freePort());
    await server.start(...words);
    return server;
  }

  /** Starts the server, or restarts it with everything it has acknowledged. */
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

  /** Kills the server without an orderly shutdown. */
  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }

  /** Pauses the server, whatever it is doing. */
  pause(): void {
    this.#process?.kill("SIGSTOP");
  }

  /** Resumes the server. */
  resume(): void {
    this.#process?.kill("SIGCONT");
  }

  /** Ends the server and removes its files. */
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

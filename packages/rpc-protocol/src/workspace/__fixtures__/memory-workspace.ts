import type {
  Workspace,
  WorkspaceEntry,
  WorkspaceExit,
  WorkspaceProcess,
  WorkspaceReadOptions,
  WorkspaceRemoveOptions,
  WorkspaceSearchRequest,
  WorkspaceSearchResult,
  WorkspaceSpawnOptions,
  WorkspaceStat,
} from "../workspace.ts";
import { WorkspaceError } from "../workspace-error.ts";

/**
 * A workspace without a disk. Its commands: `echo <text>`, `cat` (repeats its input), `wait` (until it is
 * killed), `flood <n>` (n chunks of 64 KiB, at the pace of the listener), `exit <n>`.
 */
export class MemoryWorkspace implements Workspace {
  readonly id = "memory";
  readonly cwd = "/work";
  readonly files = new Map<string, Uint8Array>();
  readonly folders = new Set<string>(["/", "/work"]);
  /** The number of chunks that the listener of `flood` has taken. */
  flooded = 0;
  running = 0;

  async describe() {
    return {
      platform: "linux",
      homeDirectory: "/home",
      temporaryDirectory: "/tmp",
      shell: "none",
      user: "nobody",
      limited: ["within"],
    } as const;
  }

  async stat(path: string): Promise<WorkspaceStat | undefined> {
    const file = this.files.get(path);
    if (file !== undefined) return { kind: "file", size: file.length, mode: 0o644, realPath: path };
    return this.folders.has(path) ? { kind: "directory", size: 0, realPath: path } : undefined;
  }

  async list(path: string): Promise<readonly WorkspaceEntry[]> {
    if (this.files.has(path)) throw new WorkspaceError("not_a_directory", undefined, { path });
    if (!this.folders.has(path)) throw new WorkspaceError("not_found", undefined, { path });
    const below = path === "/" ? "/" : `${path}/`;
    const names = (paths: Iterable<string>) =>
      [...paths]
        .filter((each) => each !== path && each.startsWith(below))
        .map((each) => each.slice(below.length))
        .filter((name) => !name.includes("/"));
    return [
      ...names(this.files.keys()).map((name) => ({ name, kind: "file" }) as const),
      ...names(this.folders).map((name) => ({ name, kind: "directory" }) as const),
    ];
  }

  async read(
    path: string,
    { offset = 0, length = Number.POSITIVE_INFINITY }: WorkspaceReadOptions = {},
  ): Promise<Uint8Array> {
    if (this.folders.has(path)) throw new WorkspaceError("is_a_directory", undefined, { path });
    const file = this.files.get(path);
    if (file === undefined) throw new WorkspaceError("not_found", undefined, { path });
    return file.slice(offset, Math.min(file.length, offset + length));
  }

  async write(path: string, bytes: Uint8Array): Promise<void> {
    if (this.folders.has(path)) throw new WorkspaceError("is_a_directory", undefined, { path });
    await this.createDirectory(path.slice(0, path.lastIndexOf("/")) || "/");
    this.files.set(path, bytes.slice());
  }

  async remove(path: string, { recursive }: WorkspaceRemoveOptions = {}): Promise<void> {
    if (this.files.delete(path)) return;
    if (!this.folders.has(path)) throw new WorkspaceError("not_found", undefined, { path });
    const inside = [...this.files.keys(), ...this.folders].filter((at) => at.startsWith(`${path}/`));
    if (inside.length > 0 && !recursive) {
      throw new WorkspaceError("not_empty", undefined, { path });
    }
    for (const each of [...inside, path]) if (!this.files.delete(each)) this.folders.delete(each);
  }

  async rename(from: string, to: string): Promise<void> {
    if (this.folders.has(to)) throw new WorkspaceError("exists", undefined, { path: to });
    const file = this.files.get(from);
    if (file === undefined) throw new WorkspaceError("not_found", undefined, { path: from });
    this.files.delete(from);
    this.files.set(to, file);
  }

  async createDirectory(path: string): Promise<void> {
    for (let at = path; at !== "" && at !== "/"; at = at.slice(0, at.lastIndexOf("/"))) {
      if (this.files.has(at)) throw new WorkspaceError("exists", undefined, { path: at });
      this.folders.add(at);
    }
  }

  async search({ pattern, limit }: WorkspaceSearchRequest): Promise<WorkspaceSearchResult> {
    const found = [...this.files.keys()].filter((path) => path.includes(pattern));
    const matches = found.slice(0, limit).map((path) => ({ path }));
    return { matches, truncated: found.length > limit };
  }

  async spawn({ command, onOutput, signal }: WorkspaceSpawnOptions): Promise<WorkspaceProcess> {
    const words = typeof command === "string" ? command.split(" ") : command;
    const [name, argument = ""] = words;
    if (!["exit", "echo", "flood", "cat", "wait"].includes(name ?? "")) {
      throw new WorkspaceError("not_found", `Program not found: ${name}`);
    }
    let end: (exit: WorkspaceExit) => void = () => {};
    this.running += 1;
    const ended = new Promise<WorkspaceExit>((resolve) => {
      end = resolve;
    });
    const done = ended.finally(() => {
      this.running -= 1;
    });
    const kill = async (name = "SIGTERM") => end({ exitCode: null, signal: name });
    signal?.addEventListener("abort", () => void kill(), { once: true });
    if (name === "exit") end({ exitCode: Number(argument) });
    else if (name === "echo") {
      void Promise.resolve(onOutput(Buffer.from(argument), "stdout")).then(() =>
        end({ exitCode: 0 }),
      );
    } else if (name === "flood") {
      void this.#flood(Number(argument), onOutput).then(() => end({ exitCode: 0 }));
    }
    return {
      pid: 7,
      write: async (bytes) => void (await onOutput(bytes, "stderr")),
      endInput: async () => end({ exitCode: 0 }),
      kill,
      done,
    };
  }

  async #flood(count: number, onOutput: WorkspaceSpawnOptions["onOutput"]): Promise<void> {
    for (let made = 0; made < count; made += 1) {
      await onOutput(new Uint8Array(65_536), "stdout");
      this.flooded += 1;
    }
  }
}

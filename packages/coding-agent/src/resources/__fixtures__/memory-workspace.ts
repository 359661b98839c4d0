import { setTimeout as sleep } from "node:timers/promises";
import {
  type Workspace,
  type WorkspaceAccess,
  type WorkspaceEntry,
  WorkspaceError,
  type WorkspaceStat,
} from "@tau-agent/rpc-protocol/workspace";

type Node =
  | { readonly kind: "file"; readonly bytes: Buffer; readonly mode: number }
  | { readonly kind: "symlink"; readonly target: string }
  | { readonly kind: "directory"; readonly mode: number }
  | { readonly kind: "other" };

/** A POSIX workspace that exists only in memory. */
export class MemoryWorkspace implements Workspace {
  readonly id: string;
  readonly cwd: string;
  /** The delay of every call, as with a remote machine. */
  delayMs = 0;
  /** Fails all calls from now on. */
  failure: Error | undefined;
  /** The largest number of calls that had to follow one another. */
  rounds = 0;
  calls: string[] = [];
  readonly #nodes = new Map<string, Node>([["/", { kind: "directory", mode: 0o755 }]]);
  readonly #homeDirectory: string;
  #depthDone = 0;

  constructor({ cwd, id = "ws-memory", homeDirectory = "/home/there" }: {
    cwd: string;
    id?: string;
    homeDirectory?: string;
  }) {
    this.id = id;
    this.cwd = cwd;
    this.#homeDirectory = homeDirectory;
    this.folder(cwd);
    this.folder(homeDirectory);
  }

  put(path: string, content: string | Buffer, mode = 0o644): string {
    this.folder(parentOf(path));
    this.#nodes.set(path, { kind: "file", bytes: Buffer.from(content), mode });
    return path;
  }

  link(path: string, target: string): string {
    this.folder(parentOf(path));
    this.#nodes.set(path, { kind: "symlink", target });
    return path;
  }

  pipe(path: string): string {
    this.folder(parentOf(path));
    this.#nodes.set(path, { kind: "other" });
    return path;
  }

  folder(path: string, mode?: number): void {
    if (path !== "/") this.folder(parentOf(path));
    const known = this.#nodes.get(path);
    if (known !== undefined && mode === undefined) return;
    this.#nodes.set(path, { kind: "directory", mode: mode ?? 0o755 });
  }

  textOf(path: string): string | undefined {
    const node = this.#nodes.get(path);
    return node?.kind === "file" ? node.bytes.toString() : undefined;
  }

  describe() {
    return Promise.resolve({
      platform: "linux" as const,
      homeDirectory: this.#homeDirectory,
      temporaryDirectory: "/tmp",
      shell: "/bin/sh",
      limited: [],
    });
  }

  stat(path: string, { followLinks = true }: { followLinks?: boolean | undefined } = {}) {
    return this.#call(`stat ${path}`, (): WorkspaceStat | undefined => {
      const parent = this.#real(parentOf(path));
      const real = followLinks ? this.#real(path) : parent && join(parent, nameOf(path));
      const node = real === undefined ? undefined : this.#nodes.get(real);
      if (node === undefined || real === undefined) return undefined;
      const size = node.kind === "file" ? node.bytes.length : 0;
      const mode = "mode" in node ? { mode: node.mode } : {};
      return { kind: node.kind, size, realPath: real, ...mode };
    });
  }

  list(path: string, access: WorkspaceAccess = {}) {
    return this.#call(`list ${path}`, (): readonly WorkspaceEntry[] => {
      const { real, node } = this.#open(path, access);
      if (node.kind !== "directory") throw new WorkspaceError("not_a_directory", undefined, { path });
      return [...this.#nodes]
        .filter(([each]) => each !== "/" && parentOf(each) === real)
        .map(([each, { kind }]) => ({ name: nameOf(each), kind }))
        .reverse();
    });
  }

  read(
    path: string,
    {
      offset = 0,
      length = Number.POSITIVE_INFINITY,
      ...access
    }: WorkspaceAccess & { offset?: number | undefined; length?: number | undefined } = {},
  ) {
    return this.#call(`read ${path}`, (): Uint8Array => {
      const { node } = this.#open(path, access);
      if (node.kind === "directory") throw new WorkspaceError("is_a_directory", undefined, { path });
      if (node.kind !== "file") throw new WorkspaceError("failed", "Not a file", { path });
      return node.bytes.subarray(offset, offset + length);
    });
  }

  write(path: string, bytes: Uint8Array) {
    return this.#call(`write ${path}`, () => void this.put(path, Buffer.from(bytes)));
  }

  remove = unsupported;
  rename = unsupported;
  createDirectory = unsupported;
  spawn = unsupported;

  #open(path: string, { within }: WorkspaceAccess): { real: string; node: Node } {
    const real = this.#real(path);
    const node = real === undefined ? undefined : this.#nodes.get(real);
    if (real === undefined || node === undefined) {
      throw new WorkspaceError("not_found", undefined, { path });
    }
    const isIn = (folder: string) => real === folder || real.startsWith(join(folder, ""));
    if (within !== undefined && (!within.allow.some(isIn) || within.deny.some(isIn))) {
      throw new WorkspaceError("not_allowed", undefined, { path: real });
    }
    return { real, node };
  }

  /** The path without links; undefined for dangling links. */
  #real(path: string, links = 0): string | undefined {
    if (path === "/") return "/";
    const parent = this.#real(parentOf(path), links);
    if (parent === undefined || links > 20) return undefined;
    const here = join(parent, nameOf(path));
    const node = this.#nodes.get(here);
    if (node?.kind !== "symlink") return here;
    const { target } = node;
    return this.#real(new URL(target, `file://${here}`).pathname.replace(/(.)\/$/, "$1"), links + 1);
  }

  async #call<Value>(name: string, work: () => Value): Promise<Value> {
    const depth = this.#depthDone + 1;
    this.calls.push(`${depth} ${name}`);
    this.rounds = Math.max(this.rounds, depth);
    if (this.delayMs > 0) await sleep(this.delayMs);
    this.#depthDone = Math.max(this.#depthDone, depth);
    if (this.failure !== undefined) throw this.failure;
    return work();
  }
}

function unsupported(): Promise<never> {
  return Promise.reject(new WorkspaceError("unsupported"));
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function join(folder: string, name: string): string {
  return folder === "/" ? `/${name}` : `${folder}/${name}`;
}

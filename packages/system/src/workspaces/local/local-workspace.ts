import { tmpdir, userInfo } from "node:os";
import { resolve } from "node:path";
import { env } from "node:process";
import type {
  Workspace,
  WorkspaceAccess,
  WorkspaceCall,
  WorkspaceDescription,
  WorkspaceLimit,
  WorkspacePlatform,
  WorkspaceProcess,
  WorkspaceRemoveOptions,
  WorkspaceSearchRequest,
  WorkspaceSearchResult,
  WorkspaceSpawnOptions,
  WorkspaceWriteOptions,
} from "@tau-agent/rpc-protocol/workspace";
import { attempt } from "../../base/attempt.ts";
import { realPlaceOf } from "../../base/files/real-place.ts";
import { findHomeDirectory } from "../../base/home-directory.ts";
import { ProcessRegistry } from "../../processes/process-registry.ts";
import type { Sandbox } from "../../processes/sandbox.ts";
import { findShell } from "../../processes/shell.ts";
import { createFolder, removePath, renamePath } from "./change-places.ts";
import { type FileWriting, startWriting } from "./file-writing.ts";
import { ripgrepOnPath } from "./find-ripgrep.ts";
import { aborted, callOn } from "./local-errors.ts";
import { LocalFiles, unless } from "./local-files.ts";
import type { OuterReach } from "./reach.ts";
import type { spawnCommand } from "./spawn-command.ts";

export interface LocalWorkspaceOptions extends OuterReach {
  /** Absolute. */
  readonly cwd: string;
  /** The variables that its commands start with; default those of this process. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** Knows its commands, and ends them; without it the workspace has its own, until it is disposed. */
  readonly processes?: ProcessRegistry | undefined;
  /** Keeps its commands inside. */
  readonly sandbox?: Sandbox | undefined;
  /** The shell of its lines; default bash, else sh. */
  readonly shellPath?: string | undefined;
  readonly homeDirectory?: string | undefined;
  readonly temporaryDirectory?: string | undefined;
  /** ripgrep's executable, or what finds it; `null` searches without it. Default: `rg` on the PATH. */
  readonly ripgrep?: string | null | (() => Promise<string | undefined>) | undefined;
}

/** The machine of this process as a workspace. */
export class LocalWorkspace extends LocalFiles implements Workspace {
  readonly id = "local";
  readonly cwd: string;
  readonly #options: LocalWorkspaceOptions;
  readonly #environment: Readonly<Record<string, string | undefined>>;
  readonly #ownProcesses: ProcessRegistry | undefined;
  readonly #processes: ProcessRegistry;
  #shell: string | undefined;
  /** Loaded with the first command (row `start`). */
  #spawnCommand: typeof spawnCommand | undefined;
  #description: WorkspaceDescription | undefined;

  constructor(options: LocalWorkspaceOptions) {
    super(options);
    this.cwd = resolve(options.cwd);
    this.#options = options;
    this.#environment = options.environment ?? env;
    this.#ownProcesses = options.processes === undefined ? new ProcessRegistry() : undefined;
    this.#processes = options.processes ?? (this.#ownProcesses as ProcessRegistry);
  }

  async describe({ signal }: WorkspaceCall = {}): Promise<WorkspaceDescription> {
    if (signal?.aborted) throw aborted(signal.reason);
    this.#description ??= {
      platform: process.platform as WorkspacePlatform,
      homeDirectory: this.#options.homeDirectory ?? findHomeDirectory(),
      temporaryDirectory: this.#options.temporaryDirectory ?? tmpdir(),
      shell: this.#findShell(),
      user: attempt(() => userInfo().username),
      limited: limitsOf(process.platform),
    };
    return this.#description;
  }

  write(path: string, bytes: Uint8Array, options: WorkspaceWriteOptions = {}): Promise<void> {
    return callOn(path, options.signal, async () => {
      const writing = await startWriting(path, options, this.reach(options.within));
      try {
        await writing.append(bytes);
      } catch (error) {
        await writing.discard();
        throw error;
      }
      await writing.finish();
    });
  }

  /** {@link LocalWorkspace.write} in parts: the file is seen once it is finished. */
  openUpload(path: string, options: WorkspaceWriteOptions = {}): Promise<FileWriting> {
    return callOn(path, options.signal, async () => {
      const writing = await startWriting(path, options, this.reach(options.within));
      const { signal } = options;
      return {
        append: (bytes) => callOn(path, signal, () => writing.append(bytes)),
        finish: () => callOn(path, signal, () => writing.finish()),
        discard: () => writing.discard(),
      };
    });
  }

  remove(path: string, options: WorkspaceRemoveOptions = {}): Promise<void> {
    const { recursive = false, within, signal } = options;
    return callOn(path, signal, () => removePath(path, recursive, this.reach(within)));
  }

  rename(from: string, to: string, { within, signal }: WorkspaceAccess = {}): Promise<void> {
    return callOn(from, signal, () => renamePath(from, to, this.reach(within)));
  }

  createDirectory(path: string, { within, signal }: WorkspaceAccess = {}): Promise<void> {
    return callOn(path, signal, () => createFolder(path, this.reach(within)));
  }

  spawn(options: WorkspaceSpawnOptions): Promise<WorkspaceProcess> {
    const cwd = options.cwd ?? this.cwd;
    return callOn(cwd, options.signal, async () => {
      const { roots, sandbox } = this.#options;
      if (roots !== undefined) this.unlimited.checkReal(realPlaceOf(cwd));
      const shell = this.#findShell();
      const { cwd: start } = this;
      const processes = this.#processes;
      this.#spawnCommand ??= (await import("./spawn-command.ts")).spawnCommand;
      return this.#spawnCommand(options, {
        ...{ cwd: start, shell, processes, sandbox, environment: this.#environment },
      });
    });
  }

  search(request: WorkspaceSearchRequest): Promise<WorkspaceSearchResult> {
    const { path, signal, within } = request;
    return callOn(path, signal, async () => {
      const { searchLocally } = await import("./local-search.ts");
      const { sandbox } = this.#options;
      const processes = this.#processes;
      const ripgrep = () => this.#findRipgrep();
      const reach = this.reach(within);
      return unless(searchLocally(request, { reach, processes, sandbox, ripgrep }), signal);
    });
  }

  /** Whether its commands run in a sandbox. */
  get isSandboxed(): boolean {
    return this.#options.sandbox !== undefined;
  }

  /** The same place for commands outside of the sandbox. */
  withoutSandbox(): LocalWorkspace {
    return new LocalWorkspace({
      ...this.#options,
      processes: this.#processes,
      sandbox: undefined,
    });
  }

  async dispose(): Promise<void> {
    this.#ownProcesses?.killAll();
  }

  #findShell(): string {
    const { shellPath } = this.#options;
    this.#shell ??= findShell({ shellPath, environment: this.#environment });
    return this.#shell;
  }

  async #findRipgrep(): Promise<string | undefined> {
    const { ripgrep } = this.#options;
    if (ripgrep === null) return undefined;
    if (typeof ripgrep === "function") return ripgrep();
    return ripgrep ?? ripgrepOnPath(this.#environment);
  }
}

/** The workspace of this machine. */
export function createLocalWorkspace(options: LocalWorkspaceOptions): LocalWorkspace {
  return new LocalWorkspace(options);
}

function limitsOf(platform: NodeJS.Platform): readonly WorkspaceLimit[] {
  if (platform === "linux") return [];
  return platform === "win32" ? ["file-mode", "signals", "within"] : ["within"];
}

import { tmpdir, userInfo } from "node:os";
import { resolve } from "node:path";
import { env } from "node:process";
import type {
  Workspace,
  WorkspaceCall,
  WorkspaceChange,
  WorkspaceDescription,
  WorkspaceDurable,
  WorkspaceLimit,
  WorkspaceOwner,
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
import type { Durability } from "../../durability/open-durability.ts";
import { hasProcessGroups } from "../../processes/process-group.ts";
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
  /** An absolute path. */
  readonly cwd: string;
  /** The variables that its commands start with; by default those of this process. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** Tracks its commands and ends them; by default the workspace has a separate registry until it is disposed of. */
  readonly processes?: ProcessRegistry | undefined;
  /** Confines its commands. */
  readonly sandbox?: Sandbox | undefined;
  /** The shell for command lines; default bash, else sh. */
  readonly shellPath?: string | undefined;
  /** Keys that kept commands must not write to their output folders, the longest first. */
  readonly outputKeys?: (() => readonly string[]) | undefined;
  readonly homeDirectory?: string | undefined;
  readonly temporaryDirectory?: string | undefined;
  /**
   * ripgrep's executable, or a function that finds it; `null` searches without it. By default, or
   * if none is found, `rg` on the PATH.
   */
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
  #durable: Promise<Durability> | undefined;

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
    return this.#change(path, options, async () => {
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

  /** {@link LocalWorkspace.write} in parts: the file becomes visible once it is finished. */
  openUpload(path: string, options: WorkspaceWriteOptions = {}): Promise<FileWriting> {
    return callOn(path, options.signal, async () => {
      const writing = await startWriting(path, options, this.reach(options.within));
      const { signal } = options;
      return {
        append: (bytes) => callOn(path, signal, () => writing.append(bytes)),
        finish: () => this.#change(path, options, () => writing.finish()),
        discard: () => writing.discard(),
      };
    });
  }

  remove(path: string, options: WorkspaceRemoveOptions = {}): Promise<void> {
    const { recursive = false, within } = options;
    return this.#change(path, options, () => removePath(path, recursive, this.reach(within)));
  }

  rename(from: string, to: string, options: WorkspaceChange = {}): Promise<void> {
    return this.#change(from, options, () => renamePath(from, to, this.reach(options.within)));
  }

  createDirectory(path: string, options: WorkspaceChange = {}): Promise<void> {
    return this.#change(path, options, () => createFolder(path, this.reach(options.within)));
  }

  spawn(options: WorkspaceSpawnOptions): Promise<WorkspaceProcess> {
    const cwd = options.cwd ?? this.cwd;
    return callOn(cwd, options.signal, async () => {
      const { roots, sandbox, outputKeys = () => [] } = this.#options;
      for (const folder of [cwd, options.outputFolder])
        if (roots !== undefined && folder) this.unlimited.checkReal(realPlaceOf(folder));
      const shell = this.#findShell();
      const { cwd: start } = this;
      const processes = this.#processes;
      this.#spawnCommand ??= (await import("./spawn-command.ts")).spawnCommand;
      return this.#spawnCommand(options, {
        ...{ cwd: start, shell, processes, sandbox, outputKeys, environment: this.#environment },
        keeper: options.commandId === undefined ? undefined : (await this.#durability()).keeper,
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

  /** Undefined where there are no process groups, because a keeper could not end the commands. */
  readonly durable: WorkspaceDurable | undefined = hasProcessGroups
    ? {
        adopt: async (options) => {
          const { keeper } = await this.#durability();
          return callOn(this.cwd, options.signal, () => keeper.adopt(options));
        },
        endCommands: async (options) => {
          const { keeper } = await this.#durability();
          return callOn(this.cwd, undefined, () => keeper.endCommands(options));
        },
      }
    : undefined;

  /** Makes a change for an owner, if it is still the owner of its session. */
  #change<Result>(
    path: string,
    { session, epoch, signal }: WorkspaceCall & Partial<WorkspaceOwner>,
    work: () => Promise<Result>,
  ): Promise<Result> {
    return callOn(path, signal, async () => {
      if (session === undefined || epoch === undefined) return work();
      return (await this.#durability()).guard.change({ session, epoch }, work);
    });
  }

  /** Loaded with the first call that has an owner. */
  #durability(): Promise<Durability> {
    this.#durable ??= import("../../durability/open-durability.ts").then(({ openDurability }) =>
      openDurability(this.#options.temporaryDirectory ?? tmpdir(), this.#environment),
    );
    return this.#durable;
  }

  /** Whether its commands run in a sandbox. */
  get isSandboxed(): boolean {
    return this.#options.sandbox !== undefined;
  }

  /** The same workspace, with commands outside of the sandbox. */
  withoutSandbox(): LocalWorkspace {
    return this.withSandbox(undefined);
  }

  /** The same workspace, with commands in a sandbox. */
  withSandbox(sandbox: Sandbox | undefined): LocalWorkspace {
    return new LocalWorkspace({ ...this.#options, processes: this.#processes, sandbox });
  }

  async dispose(): Promise<void> {
    this.#ownProcesses?.killAll();
    (await this.#durable)?.keeper.leave();
  }

  #findShell(): string {
    const { shellPath } = this.#options;
    this.#shell ??= findShell({ shellPath, environment: this.#environment });
    return this.#shell;
  }

  async #findRipgrep(): Promise<string | undefined> {
    const { ripgrep } = this.#options;
    if (ripgrep === null) return undefined;
    const found = typeof ripgrep === "function" ? await ripgrep() : ripgrep;
    return found ?? ripgrepOnPath(this.#environment);
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

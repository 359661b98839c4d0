import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import { WorkspaceError } from "@tau-agent/rpc-protocol/workspace";
import { attempt } from "../../base/attempt.ts";
import { errorCode } from "../../base/files/error-code.ts";
import { makeFolderNow } from "../../base/files/make-folder.ts";
import { isAlive, ownIdentity, type ProcessIdentity } from "../../base/process-identity.ts";
import { randomHex } from "../../base/random.ts";
import { childLimit, hostLimit } from "../../processes/limit-mark.ts";
import { hasProcessGroups, isGroupAlive, killProcesses } from "../../processes/process-group.ts";
import type { KeptOutcome } from "./keep-commands.ts";

/** The process that a command ends with (`owner.json`); the command's keeper checks whether it still runs. */
interface CommandOwner extends ProcessIdentity {
  readonly epoch: number;
}

interface CommandKeeper extends ProcessIdentity {
  /** The command itself, the leader of its process group. */
  readonly childPid: number;
}

/** A mark for the processes of a command that belongs to no host. */
export function createMark(): string {
  return `${randomHex(8)}.1/`;
}

/** The mark of processes that empty their environment; undefined on systems without such a mark. */
export function limitOf(mark: string): string | undefined {
  if (!hasProcessGroups || process.platform !== "linux") return undefined;
  return childLimit(hostLimit(mark.slice(0, 16)), 1);
}

/** The files of one kept command. Ids of sessions and commands contain no separators. */
export class CommandFolder {
  readonly path: string;

  constructor(sessionFolder: string, commandId: string) {
    this.path = `${sessionFolder}/commands/${commandId}`;
  }

  /**
   * Begins a command; of two calls with the same id, only the first succeeds.
   *
   * @throws {WorkspaceError} `exists`: it was started before
   */
  create(mark: string, epoch: number): void {
    makeFolderNow(dirname(this.path), 0o700);
    try {
      mkdirSync(this.path, 0o700);
    } catch (error) {
      if (errorCode(error) !== "EEXIST") throw error;
      throw new WorkspaceError("exists", "This command was started before", { path: this.path });
    }
    this.#write("mark.json", { mark });
    this.own(epoch);
  }

  get exists(): boolean {
    return existsSync(this.path);
  }

  /** Makes this process the owner, with which the command ends. */
  own(epoch: number): void {
    this.#write("owner.json", { ...ownIdentity(), epoch } satisfies CommandOwner);
  }

  get epoch(): number {
    return this.#read<CommandOwner>("owner.json")?.epoch ?? 0;
  }

  get childPid(): number | undefined {
    return this.#read<CommandKeeper>("keeper.json")?.childPid;
  }

  get outcome(): KeptOutcome | undefined {
    return this.#read<KeptOutcome>("outcome.json");
  }

  /** Whether a keeper still follows the command. */
  get isKept(): boolean {
    const keeper = this.#read<CommandKeeper>("keeper.json");
    return keeper !== undefined && isAlive(keeper);
  }

  /**
   * Prevents the command from starting later: its keeper may not have read the request yet.
   *
   * @returns false if the command has already started
   */
  forbidStart(): boolean {
    try {
      writeFileSync(`${this.path}/started`, "", { flag: "wx", mode: 0o600 });
      return true;
    } catch (error) {
      if (errorCode(error) === "EEXIST") return false;
      throw error;
    }
  }

  /** Sends a signal to the command and all its descendants. */
  kill(signal: NodeJS.Signals = "SIGKILL"): void {
    const mark = this.#read<{ readonly mark: string }>("mark.json")?.mark;
    const child = this.childPid;
    const leaders = new Set(child !== undefined && isGroupAlive(child) ? [child] : []);
    killProcesses({ leaders, mark, limit: mark === undefined ? undefined : limitOf(mark), signal });
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }

  #write(name: string, value: object): void {
    const made = `${this.path}/${name}.${randomHex(4)}`;
    writeFileSync(made, JSON.stringify(value), { mode: 0o600 });
    renameSync(made, `${this.path}/${name}`);
  }

  #read<Value>(name: string): Value | undefined {
    const text = attempt(() => readFileSync(`${this.path}/${name}`, "utf8"));
    const value: unknown = text === undefined ? undefined : attempt(() => JSON.parse(text));
    return isJsonObject(value) ? (value as unknown as Value) : undefined;
  }
}

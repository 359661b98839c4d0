import type {
  WorkspaceAccess,
  WorkspaceEntry,
  WorkspaceReach,
  WorkspaceReadOptions,
  WorkspaceStat,
  WorkspaceStatOptions,
} from "@tau-agent/rpc-protocol/workspace";
import type { WorkspaceFiles } from "../../base/files/read-text-in.ts";
import { unlessAborted } from "../../base/unless-aborted.ts";
import { aborted, callOn } from "./local-errors.ts";
import { createReach, type OuterReach, type Reach } from "./reach.ts";
import { listFolder, readPath, statPath } from "./read-files.ts";

/** The files of this machine, read-only. */
export class LocalFiles implements WorkspaceFiles {
  readonly #outer: OuterReach;
  /** The limits for calls without limits of their own. */
  protected readonly unlimited: Reach;

  constructor(outer: OuterReach = {}) {
    this.#outer = outer;
    this.unlimited = createReach(outer, undefined);
  }

  stat(path: string, options: WorkspaceStatOptions = {}): Promise<WorkspaceStat | undefined> {
    const reach = this.reach(options.within);
    return callOn(path, options.signal, () => statPath(path, options, reach));
  }

  list(path: string, { within, signal }: WorkspaceAccess = {}): Promise<readonly WorkspaceEntry[]> {
    const reach = this.reach(within);
    return callOn(path, signal, () => unless(listFolder(path, reach), signal));
  }

  read(path: string, options: WorkspaceReadOptions = {}): Promise<Uint8Array> {
    const { signal, within } = options;
    const reach = this.reach(within);
    return callOn(path, signal, () => unless(readPath(path, options, reach), signal));
  }

  protected reach(within: WorkspaceReach | undefined): Reach {
    return within === undefined ? this.unlimited : createReach(this.#outer, within);
  }
}

/** Awaits work, but stops waiting when the signal is aborted. */
export function unless<Value>(
  work: Promise<Value>,
  signal: AbortSignal | undefined,
): Promise<Value> {
  return signal === undefined ? work : unlessAborted(work, signal, () => aborted(signal.reason));
}

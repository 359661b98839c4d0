import { Isolation, type IsolationOptions } from "./isolation.ts";
import type { IsolationThereOptions } from "./isolation-there.ts";
import { makeBranch, mergeChanges } from "./merge-back.ts";
import type { TaskIsolation } from "./task-isolation.ts";
import { keepWork } from "./trees/keep-work.ts";

/**
 * Records the caller's working state, on this machine or in a workspace on another machine.
 *
 * @throws {ToolError} no git, a repository that cannot be used, a folder that is too large, aborted
 */
export async function openIsolation(
  options: IsolationOptions | IsolationThereOptions,
): Promise<TaskIsolation> {
  if ("workspace" in options) {
    const { IsolationThere } = await import("./isolation-there.ts");
    return IsolationThere.open(options);
  }
  const isolation = await Isolation.open(options);
  return {
    leftOut: isolation.baseline.leftOut,
    createTree: () => isolation.createTree(),
    // Opening has already kept the work that killed hosts left.
    keepLeft: async () => {},
    keepWork: (work, path) => keepWork(isolation, work, path),
    mergeChanges: (changes, signal) => mergeChanges(isolation, changes, signal),
    makeBranch: (change) => makeBranch(isolation, change),
    dispose: () => isolation.dispose(),
  };
}

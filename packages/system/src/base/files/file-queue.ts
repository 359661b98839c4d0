import { realPlaceOf } from "./real-place.ts";

/** Runs changes to one file one after the other, in the order of the calls. */
export class FileQueue {
  readonly #tails = new Map<string, Promise<void>>();

  /** By which changes are put in order: on this machine the real path, elsewhere the path of the workspace. */
  keyOf(path: string, workspaceId = "local"): string {
    return workspaceId === "local" ? realPlaceOf(path) : `${workspaceId}:${path}`;
  }

  /** Runs `change` after the earlier ones for the same real file; other files are not waited for. */
  async run<Result>(
    path: string,
    change: () => Promise<Result>,
    workspaceId?: string,
  ): Promise<Result> {
    const key = this.keyOf(path, workspaceId);
    const earlier = this.#tails.get(key) ?? Promise.resolve();
    const result = earlier.then(change);
    const tail = result.then(
      () => {},
      () => {},
    );
    this.#tails.set(key, tail);
    try {
      return await result;
    } finally {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    }
  }
}

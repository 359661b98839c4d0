import { Turns } from "../turns.ts";
import { realPlaceOf } from "./real-place.ts";

/** Runs changes to one file one after the other, in the order of the calls. */
export class FileQueue {
  readonly #turns = new Turns();

  /** By which changes are put in order: on this machine the real path, elsewhere the path of the workspace. */
  keyOf(path: string, workspaceId = "local"): string {
    return workspaceId === "local" ? realPlaceOf(path) : `${workspaceId}:${path}`;
  }

  /** Runs `change` after the earlier ones for the same real file; other files are not waited for. */
  run<Result>(path: string, change: () => Promise<Result>, workspaceId?: string): Promise<Result> {
    return this.#turns.take(this.keyOf(path, workspaceId), change);
  }
}

import { Turns } from "../turns.ts";
import { realPlaceOf } from "./real-place.ts";

/** Runs changes to one file one after the other, in the order of the calls. */
export class FileQueue {
  readonly #turns = new Turns();

  /** The key that orders changes: the real path on this machine, the path in the workspace elsewhere. */
  keyOf(path: string, workspaceId = "local"): string {
    return workspaceId === "local" ? realPlaceOf(path) : `${workspaceId}:${path}`;
  }

  /** Runs `change` after earlier ones for the same real file; changes to other files run at the same time. */
  run<Result>(path: string, change: () => Promise<Result>, workspaceId?: string): Promise<Result> {
    return this.#turns.take(this.keyOf(path, workspaceId), change);
  }
}

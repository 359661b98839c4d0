import { lstatSync } from "node:fs";
import { dirname } from "node:path";

/** Listings so close together belong to tries of one command. */
const TRIES_MS = 1_000;
/** How long a folder counts as one where sockets come and go. */
const RESTLESS_MS = 10_000;
/** A socket that has lasted so long is one of a service. */
const LASTING_MS = 10_000;

/**
 * Sockets that come and go while a sandbox is set up. Nothing can be mounted over one that is gone by then, so
 * with a program that makes and closes sockets all the time no try would succeed. Where that has just happened,
 * young sockets are left out: the command could reach those that the program makes next anyway.
 */
export class RestlessSockets {
  #listed: readonly string[] = [];
  #listedAt = Number.NEGATIVE_INFINITY;
  /** When a socket was last missed, by folder. */
  readonly #missedAt = new Map<string, number>();

  lasting(sockets: readonly string[]): readonly string[] {
    const now = performance.now();
    if (now - this.#listedAt < TRIES_MS) {
      for (const path of this.#listed) {
        if (ageOf(path) === undefined) this.#missedAt.set(dirname(path), now);
      }
    }
    this.#listed = sockets.filter((path) => {
      const missedAt = this.#missedAt.get(dirname(path)) ?? Number.NEGATIVE_INFINITY;
      return now - missedAt > RESTLESS_MS || (ageOf(path) ?? 0) > LASTING_MS;
    });
    this.#listedAt = now;
    return this.#listed;
  }
}

/** How long ago a file was made or changed, in ms; undefined if it is gone. */
function ageOf(path: string): number | undefined {
  const status = lstatSync(path, { throwIfNoEntry: false });
  return status && Date.now() - status.ctimeMs;
}

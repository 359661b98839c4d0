import { lstatSync } from "node:fs";
import { dirname } from "node:path";

/** Listings within this time belong to attempts to start the same command. */
const TRIES_MS = 1_000;
/** How long a folder counts as one with short-lived sockets. */
const RESTLESS_MS = 10_000;
/** A socket of at least this age belongs to a service. */
const LASTING_MS = 10_000;

/**
 * Handles sockets that appear and disappear while a sandbox is set up. Nothing can be mounted over a socket that is
 * gone by then, so a program that keeps opening and closing sockets would make every attempt fail. In folders where
 * that has just happened, young sockets are left out: the command could reach the program's next sockets anyway.
 */
export class RestlessSockets {
  #listed: readonly string[] = [];
  #listedAt = Number.NEGATIVE_INFINITY;
  /** When a socket was last missing, by folder. */
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

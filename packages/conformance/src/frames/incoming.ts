import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import type { Frame } from "./frame-queue.ts";
import type { Pattern } from "./pattern.ts";

/**
 * Frames in the order in which they are compared. A strict reader compares them in order of
 * arrival. A tolerant reader works as a client does: it finds a response by its id, else by its
 * command, and reads the events in order, ignoring responses in between.
 */
export class Incoming {
  readonly #next: () => Promise<Frame | undefined>;
  readonly #isTolerant: boolean;
  readonly #pending: Frame[] = [];

  constructor(next: () => Promise<Frame | undefined>, isTolerant: boolean) {
    this.#next = next;
    this.#isTolerant = isTolerant;
  }

  /** The next frame of the pattern's kind; undefined if none comes in time. */
  async take(pattern: Pattern): Promise<Frame | undefined> {
    const isWanted = this.#isTolerant ? wanted(pattern) : () => true;
    const index = this.#pending.findIndex(isWanted);
    if (index !== -1) return this.#pending.splice(index, 1)[0];
    for (;;) {
      const frame = await this.#next();
      if (frame === undefined || isWanted(frame)) return frame;
      this.#pending.push(frame);
    }
  }

  /** The last response that no pattern has claimed. */
  unclaimed(): Frame | undefined {
    return this.#pending.findLast(({ type }) => type === "response");
  }

  /** Puts the last frame back, to be compared again. */
  putBack(frame: Frame): void {
    this.#pending.unshift(frame);
  }
}

/** Whether a pattern describes a response rather than an event. */
export function isAboutResponse(pattern: Pattern): boolean {
  if (!isJsonObject(pattern)) return false;
  // Among frames with an id, only a response can be recognized by the id alone.
  const isToldByOthers = ["id", "command", "success"].some((name) => pattern[name] !== undefined);
  return pattern.type === "response" || (pattern.type === undefined && isToldByOthers);
}

function wanted(pattern: Pattern): (frame: Frame) => boolean {
  if (!isJsonObject(pattern)) return () => true;
  const { id, command } = pattern;
  if (!isAboutResponse(pattern)) return (frame) => frame.type !== "response";
  // A response may lack its id, but must not have the id of another command.
  const hasId = typeof id === "string" && !id.startsWith("$");
  return (frame) => {
    if (frame.type !== "response") return false;
    if (hasId && frame.id === id) return true;
    if (hasId && frame.id !== undefined) return false;
    return command === undefined || frame.command === command;
  };
}

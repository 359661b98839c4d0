import type { Frame } from "./frame-stream.ts";

/** After this time a line names what a job waits for, and again each time it has passed. */
const NOTICE_MS = 10_000;
/** How long a host may take until it has the session and has taken the prompt. */
export const START_MS = 120_000;

const awaited = {
  session: "its host to start and open the session",
  prompt: "its host to take the prompt; an extension may hold it",
} as const;

export interface StartReports {
  readonly report: (line: string) => void;
  /** Called when the host has taken too long, with what it was waited for. */
  readonly onLate: (reason: string) => void;
}

/**
 * The time until a host has begun with its prompt. What a person is asked for meanwhile does not count:
 * an extension may open a dialog before it lets a prompt pass.
 */
export class StartWatch {
  readonly #timer: NodeJS.Timeout;
  readonly #asked = new Set<unknown>();
  #awaited: keyof typeof awaited = "session";
  #waitedMs = 0;

  constructor({ report, onLate }: StartReports) {
    this.#timer = setInterval(() => {
      if (this.#asked.size > 0) return;
      this.#waitedMs += NOTICE_MS;
      const what = awaited[this.#awaited];
      const seconds = this.#waitedMs / 1_000;
      if (this.#waitedMs < START_MS) return report(`waits for ${what} (${seconds} s)`);
      this.end();
      onLate(`waited ${seconds} s for ${what}`);
    }, NOTICE_MS);
  }

  opened(): void {
    this.#awaited = "prompt";
  }

  /** Looks for questions to people. */
  take({ type, id }: Frame): void {
    if (type === "host_request") this.#asked.add(id);
    if (type === "host_request_resolved") this.#asked.delete(id);
  }

  /** The prompt was taken or refused, or its host has ended. */
  end(): void {
    clearInterval(this.#timer);
  }
}

import type { Frame } from "./frame-stream.ts";

/** How often a line reports what a job waits for. */
const NOTICE_MS = 10_000;
/** How long a host may take to open the session and accept the prompt. */
export const START_MS = 120_000;

const awaited = {
  session: "its host to start and open the session",
  prompt: "its host to take the prompt; an extension may hold it",
} as const;

export interface StartReports {
  readonly report: (line: string) => void;
  /** Called with the missing step when the host has taken too long. */
  readonly onLate: (reason: string) => void;
}

/**
 * Watches the time until a host begins its prompt. Waiting for a person does not count: an extension may open a dialog
 * before it lets a prompt pass.
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

  /** Notes questions to people, and their answers. */
  take({ type, id }: Frame): void {
    if (type === "host_request") this.#asked.add(id);
    if (type === "host_request_resolved") this.#asked.delete(id);
  }

  /** Ends the watch: the prompt was accepted or refused, or its host has ended. */
  end(): void {
    clearInterval(this.#timer);
  }
}

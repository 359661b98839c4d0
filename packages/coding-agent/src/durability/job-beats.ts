import type { CallRecords } from "./call-records.ts";

const beatMs = 1_000;

/** Marks that jobs are running: meanwhile, their changes cannot be told apart from those of calls. */
export class JobBeats {
  readonly #records: CallRecords;
  /** The folders of jobs, by command id. */
  readonly #folders = new Map<string, string>();

  constructor(records: CallRecords) {
    this.#records = records;
  }

  async follow(commandId: string, folder: string): Promise<void> {
    this.#folders.set(commandId, folder);
    await this.#touch(folder);
    const timer = setInterval(() => {
      if (!this.#folders.has(commandId)) clearInterval(timer);
      else this.#touch(folder).catch(() => clearInterval(timer));
    }, beatMs);
    timer.unref();
  }

  async end(commandId: string): Promise<void> {
    const folder = this.#folders.get(commandId);
    this.#folders.delete(commandId);
    if (folder !== undefined) await this.#touch(folder);
  }

  close(): void {
    this.#folders.clear();
  }

  async #touch(folder: string): Promise<void> {
    await this.#records.touchJobs();
    await this.#records.touchFolder(folder);
  }
}

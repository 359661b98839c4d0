import { appendFile, mkdir, open, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { parseObject } from "@tau-agent/rpc-protocol/plain";
import type { EvalRun } from "./eval-task.ts";

/** A run that has begun and, if it is on this machine, its folder. */
interface Begun {
  readonly task: string;
  readonly run: number;
  readonly root?: string | undefined;
}

/**
 * The record of an evaluation on disk: one line when a run begins and one with its result, each written
 * before anything else happens. After a `kill -9`, the same command therefore continues the evaluation.
 */
export class EvalJournal {
  readonly #path: string;
  /** The results of runs that need no repetition. */
  readonly done: readonly EvalRun[];
  /** Folders of runs that have not ended. */
  readonly left: readonly string[];

  private constructor(path: string, done: readonly EvalRun[], left: readonly string[]) {
    this.#path = path;
    this.done = done;
    this.left = left;
  }

  static async open(folder: string): Promise<EvalJournal> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, "journal.jsonl");
    const text = await readFile(path, "utf8").catch(() => "");
    // If a host was killed, the last line may be incomplete.
    if (text !== "" && !text.endsWith("\n")) await appendFile(path, "\n");
    const lines = text.split("\n").map(parseObject);
    const ofType = (type: string) => lines.filter((line) => line?.type === type);
    const done = ofType("done").map((line) => line?.result as EvalRun);
    const begun = ofType("begun") as unknown as readonly Begun[];
    const left = begun.filter(
      ({ task, run }) => !done.some((one) => one.task === task && one.run === run),
    );
    return new EvalJournal(
      path,
      done,
      left.flatMap(({ root }) => root ?? []),
    );
  }

  begin(begun: Begun): Promise<void> {
    return this.#append({ type: "begun", ...begun });
  }

  end(result: EvalRun): Promise<void> {
    return this.#append({ type: "done", result });
  }

  /** The evaluation is complete; running the same command again starts a new one. */
  async close(): Promise<void> {
    await rename(this.#path, `${this.#path.replace(/\.jsonl$/, "")}-${Date.now()}.jsonl`);
  }

  async #append(line: object): Promise<void> {
    const file = await open(this.#path, "a", 0o600);
    try {
      await file.appendFile(`${JSON.stringify(line)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
  }
}

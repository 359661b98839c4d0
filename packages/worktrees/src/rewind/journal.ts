import { appendFileSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { parseObject } from "@tau-agent/rpc-protocol/plain";
import { makeFolderNow } from "@tau-agent/system";
import type { FileState } from "./files/file-state.ts";

export interface PromptBegin {
  readonly type: "begin";
  readonly id: string;
  readonly entryId: string;
  readonly folder: string;
  /** The snapshot before the prompt. */
  readonly commit: string;
  /** In ms since the epoch. */
  readonly timestamp: number;
  readonly notCovered: readonly string[];
}

/** The end of a prompt; a checkpoint without changes is not kept. */
interface PromptEnd {
  readonly type: "end";
  readonly id: string;
  /** The snapshot after the prompt. */
  readonly commit: string;
  readonly isChanged: boolean;
}

/** Whether the changes of a checkpoint are in the files, and the paths for which the opposite is true. */
export type Effect = readonly [id: string, isInForce: boolean, except: readonly string[]];

export interface RewindBegin extends Pick<PromptBegin, "id" | "entryId" | "folder" | "commit"> {
  readonly type: "rewind";
  readonly undoes?: string;
  /** The states of each path before and after. */
  readonly targets: readonly (readonly [path: string, FileState | null, FileState | null])[];
  readonly position: number;
  /** The effects in force once the rewind is done. */
  readonly effects: readonly Effect[];
  readonly leafId: string | null;
}

export interface RewindEnd {
  readonly type: "done";
  readonly id: string;
  /** The snapshot after the rewind. */
  readonly commit: string;
  readonly effects: readonly Effect[];
}

/** Checkpoints that are no longer kept. */
interface Pruned {
  readonly type: "prune";
  readonly ids: readonly string[];
}

export type JournalEvent = PromptBegin | PromptEnd | RewindBegin | RewindEnd | Pruned;

/** A file with the events of one session; each event is written before it takes effect. */
export class Journal {
  readonly #path: string;
  readonly #events: JournalEvent[] = [];
  #endsWithNewline = true;

  constructor(path: string) {
    this.#path = path;
    let text = "";
    try {
      text = readFileSync(path, "utf8");
    } catch {
      // There are no events yet.
    }
    this.#endsWithNewline = text === "" || text.endsWith("\n");
    for (const line of text.split("\n")) {
      // The last line of a killed host may be incomplete.
      const event = parseObject(line);
      if (event !== undefined) this.#events.push(event as unknown as JournalEvent);
    }
  }

  get events(): readonly JournalEvent[] {
    return this.#events;
  }

  append(event: JournalEvent): void {
    makeFolderNow(dirname(this.#path), 0o700);
    // An incomplete line of a killed host stays a separate line.
    const start = this.#endsWithNewline ? "" : "\n";
    appendFileSync(this.#path, `${start}${JSON.stringify(event)}\n`, { mode: 0o600 });
    this.#endsWithNewline = true;
    this.#events.push(event);
  }
}

import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { SessionEvent } from "@tau-agent/rpc-protocol";
import type { SessionPart } from "@tau-agent/sessions/log";
import type { Subagent } from "../runners/subagent-runner.ts";
import type { Task } from "./task-order.ts";
import type { TaskServices } from "./task-services.ts";

interface CopyPlace {
  readonly services: TaskServices;
  readonly toolCallId: string;
  readonly artifactsFolder: string;
  readonly fileName: string;
}

/** Starts the log of a subagent in the session's store; undefined without one. */
export async function openCopy(
  { id, resumes }: Task,
  place: CopyPlace,
  onFailure: (error: unknown) => void,
): Promise<SubagentCopy | undefined> {
  const part = await place.services.session().openPart(place.toolCallId, id);
  const folder = ownFolder(place);
  return part && new SubagentCopy(part, { folder, file: resumes?.sessionFile }, onFailure);
}

/** The folder for the session file of a subagent that has a copy in a store. */
export function ownFolder({
  artifactsFolder,
  fileName,
}: Pick<CopyPlace, "artifactsFolder" | "fileName">): string {
  return join(artifactsFolder, fileName);
}

/** Events that a subagent sends after it has written an entry. */
const followEntries: ReadonlySet<string> = new Set([
  "message_end",
  "tool_execution_start",
  "compaction_end",
  "auto_compaction_end",
  "agent_end",
]);

/**
 * Keeps a subagent's log in the store of its caller's session. The subagent writes a file, because it may run anywhere
 * and has no access to the store; its events wait until the store has the entries.
 */
export class SubagentCopy {
  readonly #part: SessionPart;
  readonly #place: { readonly folder: string; readonly file: string | undefined };
  readonly #onFailure: (error: unknown) => void;
  #subagent: Subagent | undefined;
  /** What events currently wait for; undefined if nothing. */
  #turn: Promise<void> | undefined;
  #hasFailed = false;

  /** @param place - a folder where only the subagent writes its file, or the file itself */
  constructor(
    part: SessionPart,
    place: { readonly folder: string; readonly file: string | undefined },
    onFailure: (error: unknown) => void,
  ) {
    this.#part = part;
    this.#place = place;
    this.#onFailure = onFailure;
  }

  get reference(): string {
    return this.#part.reference;
  }

  attach(subagent: Subagent): void {
    this.#subagent = subagent;
  }

  /** Announces an event once the store has the entries before it. Never rejects. */
  announce(event: SessionEvent, send: () => void | Promise<void>): void | Promise<void> {
    const isAfterEntry = followEntries.has(event.type);
    if (this.#turn === undefined && !isAfterEntry) return send();
    const turn = (this.#turn ?? Promise.resolve())
      .then(() => (isAfterEntry ? this.#catchUp() : undefined))
      .then(() => (this.#hasFailed ? undefined : send()))
      .finally(() => {
        if (this.#turn === turn) this.#turn = undefined;
      });
    this.#turn = turn;
    return turn;
  }

  /** After a prompt, fetches the entries of a subagent on another machine. */
  async afterPrompt(): Promise<void> {
    await this.#catchUp();
    if (this.#part.hasFile || this.#hasFailed) return;
    const lines = await this.#subagent?.transcript?.().catch(() => undefined);
    if (lines !== undefined) await this.#part.add(lines).catch((error) => this.#fail(error));
  }

  /** Copies the last entries, and releases the log's lease. */
  async close(): Promise<void> {
    await this.#catchUp();
    await this.#part.close();
  }

  async #catchUp(): Promise<void> {
    if (this.#hasFailed) return;
    await this.#part.catchUp(this.#file()).catch((error) => this.#fail(error));
  }

  #fail(error: unknown): void {
    this.#hasFailed = true;
    this.#onFailure(error);
  }

  #file(): string | undefined {
    const { folder, file } = this.#place;
    const known = file ?? this.#subagent?.sessionFile;
    if (known !== undefined) return known;
    try {
      const name = readdirSync(folder).find((found) => found.endsWith(".jsonl"));
      return name === undefined ? undefined : join(folder, name);
    } catch {
      return undefined;
    }
  }
}

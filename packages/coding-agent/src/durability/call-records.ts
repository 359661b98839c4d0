import { createHash } from "node:crypto";
import type { KnownSessionEntry } from "@tau-agent/rpc-protocol";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import type { Workspace } from "@tau-agent/rpc-protocol/workspace";
import { readConversation } from "@tau-agent/sessions/log";
import { unlessMissing } from "@tau-agent/system";

/** A file as it was before a call wrote it. */
interface RecordedFile {
  readonly path: string;
  /** Whether it was there; then its bytes are in a file of the record. */
  readonly existed: boolean;
  readonly mode?: number | undefined;
  /** The topmost folder that was made for it. */
  readonly madeFolder?: string | undefined;
  /** SHA-256 of what the call writes. */
  readonly written: string;
}

/** What a call that changes something has to be taken back by. */
export interface CallRecord {
  readonly checkpointId: string;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly epoch: number;
  /** Where the call's session is. */
  readonly reference?: string | undefined;
  readonly folder: string;
  /** In ms since the epoch. */
  readonly startedAt: number;
  readonly commandId?: string | undefined;
  /** Its command is a job, which goes on after the call. */
  readonly isJob?: boolean | undefined;
  /** The folder as it was. */
  readonly snapshot?: string | undefined;
  /** What the call came to; it is not stored in the session yet. */
  readonly result?: ToolResult | undefined;
  readonly files: readonly RecordedFile[];
}

export function hashOf(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

const namePattern = /^[0-9a-f]{16}$/;

/** The records of calls that run, in the workspace; a file of the session gives no permission to restore anything. */
export class CallRecords {
  readonly #workspace: Workspace;
  readonly #session: () => string;
  #home: Promise<string> | undefined;

  constructor(workspace: Workspace, session: () => string) {
    this.#workspace = workspace;
    this.#session = session;
  }

  async write(record: CallRecord): Promise<void> {
    const path = await this.#path(record.checkpointId);
    await this.#workspace.write(path, Buffer.from(JSON.stringify(record)), { mode: 0o600 });
  }

  /** The content that a file had. */
  async writeContent(
    { checkpointId }: CallRecord,
    index: number,
    bytes: Uint8Array,
  ): Promise<void> {
    const path = `${await this.#path(checkpointId)}.${index}`;
    await this.#workspace.write(path, bytes, { mode: 0o600 });
  }

  async readContent({ checkpointId }: CallRecord, index: number): Promise<Uint8Array> {
    return this.#workspace.read(`${await this.#path(checkpointId)}.${index}`);
  }

  async read(checkpointId: string): Promise<CallRecord | undefined> {
    if (!namePattern.test(checkpointId)) return undefined;
    const bytes = await unlessMissing(this.#workspace.read(await this.#path(checkpointId)));
    return bytes && recordOf(bytes);
  }

  /** When a record was last touched: about when its host died. */
  async touchedAt(checkpointId: string): Promise<number | undefined> {
    return (await this.#workspace.stat(await this.#path(checkpointId)))?.modifiedAt;
  }

  async list(): Promise<readonly CallRecord[]> {
    const entries = (await unlessMissing(this.#workspace.list(await this.#folder()))) ?? [];
    const names = entries.map(({ name }) => name).filter((name) => namePattern.test(name));
    const records = await Promise.all(names.map((name) => this.read(name)));
    return records.filter((record) => record !== undefined);
  }

  /** Says that the session changes something in a folder. */
  async touchFolder(folder: string): Promise<void> {
    const path = `${await this.#folderPath(folder)}/${this.#session()}`;
    await this.#workspace.write(path, new Uint8Array(), { mode: 0o600 });
  }

  /** The record of a call of which the session only knows that it has started. */
  async find(toolCallId: string, reference: string | undefined): Promise<CallRecord | undefined> {
    const records = await this.list();
    return records.find((of) => of.toolCallId === toolCallId && of.reference === reference);
  }

  /** Says that a job of the session runs, which may change anything at any time. */
  async touchJobs(): Promise<void> {
    const path = `${await this.#folder()}/jobs`;
    await this.#workspace.write(path, new Uint8Array(), { mode: 0o600 });
  }

  /** Whether another session or a job has changed something in a folder since: then nobody knows who changed what. */
  async hasOthers(folder: string, since: number): Promise<boolean> {
    const jobs = await this.#workspace.stat(`${await this.#folder()}/jobs`);
    if ((jobs?.modifiedAt ?? 0) >= since) return true;
    const place = await this.#folderPath(folder);
    for (const { name } of (await unlessMissing(this.#workspace.list(place))) ?? []) {
      if (name === this.#session() || !/^[0-9a-f]+$/.test(name)) continue;
      const at = (await this.#workspace.stat(`${place}/${name}`))?.modifiedAt ?? 0;
      if (at >= since) return true;
    }
    return false;
  }

  async remove({ checkpointId, files }: CallRecord): Promise<void> {
    const path = await this.#path(checkpointId);
    await unlessMissing(this.#workspace.remove(path));
    for (const index of files.keys())
      await unlessMissing(this.#workspace.remove(`${path}.${index}`));
  }

  async #path(checkpointId: string): Promise<string> {
    return `${await this.#folder()}/${checkpointId}`;
  }

  async #folder(): Promise<string> {
    return `${await this.#root()}/${this.#session()}`;
  }

  async #folderPath(folder: string): Promise<string> {
    return `${await this.#root()}/folder-${hashOf(folder).slice(0, 32)}`;
  }

  async #root(): Promise<string> {
    this.#home ??= this.#workspace.describe().then(({ homeDirectory }) => homeDirectory);
    return `${await this.#home}/.cache/tau/calls`;
  }
}

function recordOf(bytes: Uint8Array): CallRecord | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString());
    return isJsonObject(value) && Array.isArray(value.files)
      ? (value as unknown as CallRecord)
      : undefined;
  } catch {
    // Its host died while it wrote it where that takes more than one step: then the call changed nothing.
    return undefined;
  }
}

/** The topmost folder on the way to a file that is not there yet. */
export async function firstMissing(
  path: string,
  workspace: Workspace,
): Promise<string | undefined> {
  let missing: string | undefined;
  for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) {
    const folder = path.slice(0, at);
    if ((await workspace.stat(folder)) !== undefined) break;
    missing = folder;
  }
  return missing;
}

/** Whether a subagent's file has the result of a call; what no file here says is taken back. */
export async function isAnswered({ reference, toolCallId }: CallRecord): Promise<boolean> {
  const { entries } = (reference && (await readConversation(reference))) || { entries: [] };
  // Models use ids again: the record is of the last call with it, and the result comes after that.
  for (const entry of (entries as readonly KnownSessionEntry[]).toReversed()) {
    if (entry.type !== "message") continue;
    const { message } = entry;
    if (message.role === "toolResult" && message.toolCallId === toolCallId) return true;
    const isCall = (block: object) => "id" in block && block.id === toolCallId;
    if (message.role === "assistant" && message.content.some(isCall)) return false;
  }
  return false;
}

import { createHash } from "node:crypto";
import type { KnownSessionEntry } from "@tau-agent/rpc-protocol";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import type { Workspace } from "@tau-agent/rpc-protocol/workspace";
import { readConversation } from "@tau-agent/sessions/log";
import { unlessMissing } from "@tau-agent/system";

/** The state of a file before a call wrote it. */
interface RecordedFile {
  readonly path: string;
  /** Whether the file existed; if so, a file of the record has its content. */
  readonly existed: boolean;
  readonly mode?: number | undefined;
  /** The topmost folder that was created for the file. */
  readonly madeFolder?: string | undefined;
  /** The SHA-256 of the content that the call writes. */
  readonly written: string;
}

/** What is needed to revert a changing call. */
export interface CallRecord {
  readonly checkpointId: string;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly epoch: number;
  /** The location of the call's session. */
  readonly reference?: string | undefined;
  readonly folder: string;
  /** In ms since the epoch. */
  readonly startedAt: number;
  readonly commandId?: string | undefined;
  /** Whether its command is a job, which continues after the call. */
  readonly isJob?: boolean | undefined;
  /** A snapshot of the folder before the call. */
  readonly snapshot?: string | undefined;
  /** The call's result, which is not stored in the session yet. */
  readonly result?: ToolResult | undefined;
  readonly files: readonly RecordedFile[];
}

export function hashOf(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

const namePattern = /^[0-9a-f]{16}$/;

/**
 * The records of running calls, kept in the workspace: the content of a session file gives no permission to restore
 * anything.
 */
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

  /** Stores the previous content of a file. */
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

  /** When a record was last touched, which is about when its host died. */
  async touchedAt(checkpointId: string): Promise<number | undefined> {
    return (await this.#workspace.stat(await this.#path(checkpointId)))?.modifiedAt;
  }

  async list(): Promise<readonly CallRecord[]> {
    const entries = (await unlessMissing(this.#workspace.list(await this.#folder()))) ?? [];
    const names = entries.map(({ name }) => name).filter((name) => namePattern.test(name));
    const records = await Promise.all(names.map((name) => this.read(name)));
    return records.filter((record) => record !== undefined);
  }

  /** Notes that the session changes something in a folder. */
  async touchFolder(folder: string): Promise<void> {
    const path = `${await this.#folderPath(folder)}/${this.#session()}`;
    await this.#workspace.write(path, new Uint8Array(), { mode: 0o600 });
  }

  /** The record of a call, found by the call's id and session. */
  async find(toolCallId: string, reference: string | undefined): Promise<CallRecord | undefined> {
    const records = await this.list();
    return records.find((of) => of.toolCallId === toolCallId && of.reference === reference);
  }

  /** Notes that a job of the session runs, which may change anything at any time. */
  async touchJobs(): Promise<void> {
    const path = `${await this.#folder()}/jobs`;
    await this.#workspace.write(path, new Uint8Array(), { mode: 0o600 });
  }

  /**
   * Whether another session or a job has changed something in a folder since then, so that changes cannot be
   * attributed.
   */
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
    // The host died while it wrote the record in several steps, so the call changed nothing.
    return undefined;
  }
}

/** The topmost missing folder on the path to a file. */
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

/** Whether a subagent's file has the result of a call; without the file, the call is reverted. */
export async function isAnswered({ reference, toolCallId }: CallRecord): Promise<boolean> {
  const { entries } = (reference && (await readConversation(reference))) || { entries: [] };
  // Models reuse ids: the record belongs to the last call with the id, and its result comes after that call.
  for (const entry of (entries as readonly KnownSessionEntry[]).toReversed()) {
    if (entry.type !== "message") continue;
    const { message } = entry;
    if (message.role === "toolResult" && message.toolCallId === toolCallId) return true;
    const isCall = (block: object) => "id" in block && block.id === toolCallId;
    if (message.role === "assistant" && message.content.some(isCall)) return false;
  }
  return false;
}

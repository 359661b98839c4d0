import { type AgentTool, onlyReads } from "@tau-agent/agent";
import type { Checkpoint, Result } from "@tau-agent/rpc-protocol";
import type { ToolCall } from "@tau-agent/rpc-protocol/messages";
import { errorMessage, SessionError } from "@tau-agent/rpc-protocol/plain";
import type { Workspace } from "@tau-agent/rpc-protocol/workspace";
import type { Diagnostic, ToolEnvironment } from "@tau-agent/system";
import type { RewindEngine } from "./rewind-engine.ts";

/** How files are recorded; absent members are taken from the settings. */
export interface RewindOptions {
  /** Whether files are recorded before a prompt changes them. */
  readonly enabled?: boolean | undefined;
  /** The largest file to record. */
  readonly maxFileBytes?: number | undefined;
  /** The most bytes in folders that git ignores; outside git, in all files. */
  readonly maxTotalBytes?: number | undefined;
  /** The most checkpoints to keep. */
  readonly keep?: number | undefined;
}

/** A message of the user to which a session can go back. */
export interface UserEntry {
  readonly text: string;
  /** Its position in the file; later messages have higher ones. */
  readonly position: number;
}

export interface RewindSession {
  readonly id: string;
  readonly isBusy: boolean;
  readonly leafId: string | null;
  /** The number of entries in its file. */
  readonly length: number;
  /** The message that the current run answers. */
  promptEntryId(): string | undefined;
  /** A message of the user; undefined for other entries; null if there is no entry with this id. */
  userEntry(entryId: string): UserEntry | undefined | null;
  /** Continues the conversation from an entry, or before it if it is a message of the user. */
  navigate(entryId: string): Promise<{ readonly cancelled: boolean }>;
  /** Does work that must not overlap with a run. */
  perform<Value>(work: () => Promise<Value>): Promise<Value>;
}

export interface SessionRewindOptions {
  readonly environment: ToolEnvironment;
  /** The workspace of the session's folder if it is on another machine. */
  readonly elsewhere?: Workspace | undefined;
  /** The folder for Tau's own files. */
  readonly directory: string;
  /** The agent's own folders, which are never recorded. */
  readonly ownFolders: () => readonly string[];
  readonly options: () => Required<RewindOptions>;
  readonly session: () => RewindSession;
  readonly note: (diagnostic: Diagnostic) => void;
}

/** The target of a rewind; exactly one of the ids is given. */
export interface RewindRequest {
  readonly entryId?: string | undefined;
  readonly checkpointId?: string | undefined;
  readonly files?: boolean | undefined;
  readonly conversation?: boolean | undefined;
  readonly dryRun?: boolean | undefined;
}

/** Built-in tools that do not change files. */
const harmlessTools: ReadonlySet<string> = new Set(["todo_write", "job_kill"]);

/** Records the folder before a prompt changes it, and takes prompts back. The engine is loaded on first use. */
export class SessionRewind {
  readonly #options: SessionRewindOptions;
  #isEnabled: boolean | undefined;
  #engine: { readonly key: string; readonly opened: Promise<RewindEngine> } | undefined;

  constructor(options: SessionRewindOptions) {
    this.#options = options;
  }

  get isEnabled(): boolean {
    return this.#isEnabled ?? this.#options.options().enabled === true;
  }

  /** Switches recording on or off for this session, whatever the settings say. */
  set isEnabled(isEnabled: boolean) {
    this.#isEnabled = isEnabled;
  }

  /** Called before a tool runs: records files before the first tool of a prompt that may change them. */
  beforeTool(tool: AgentTool, call: ToolCall): Promise<void> | undefined {
    if (!this.isEnabled || tool.isReadOnly === true || harmlessTools.has(tool.name)) {
      return undefined;
    }
    return this.#record(tool, call);
  }

  /** Called when a run is over. */
  async endPrompt(): Promise<void> {
    if (this.#engine === undefined) return;
    const { opened } = this.#engine;
    await this.#quietly(async () => (await opened).end());
  }

  /** Completes what a killed host left unfinished. */
  async recover(): Promise<void> {
    if (this.isEnabled) await this.#quietly(async () => (await this.#open()).recover());
  }

  /**
   * The prompts that changed files, oldest first.
   *
   * @throws {SessionError} `rewind_disabled`, `rewind_failed`
   */
  async list(): Promise<Checkpoint[]> {
    this.#checkEnabled();
    const session = this.#options.session();
    return orRefused(async () => {
      const engine = await this.#open();
      return engine.list((entryId) => session.userEntry(entryId)?.text);
    });
  }

  /**
   * Takes back prompts; see the command `rewind`.
   *
   * @throws {SessionError} `rewind_disabled`, `rewind_busy`, `rewind_cancelled`, `rewind_failed`,
   *   `entry_not_found`, `invalid_rewind_entry`, `checkpoint_not_found`, `checkpoint_dropped`
   */
  async rewind(request: RewindRequest): Promise<Result<"rewind">> {
    const { files = true, conversation = false, dryRun = false } = request;
    this.#checkEnabled();
    const session = this.#options.session();
    if (session.isBusy) throw new SessionError("rewind_busy");
    const engine = await orRefused(() => this.#open());
    const { entryId, undoes, target } = this.#targetOf(request, engine, session);
    const entry = userEntryOf(session, entryId);
    const { leafId } = session;
    if (conversation && !dryRun && target !== null) {
      const { cancelled } = await session.navigate(target);
      if (cancelled) throw new SessionError("rewind_cancelled", { entryId });
    }
    const isSince = (other: string) => (session.userEntry(other)?.position ?? -1) >= entry.position;
    const places = { position: entry.position, length: session.length };
    const take = () => engine.takeBack({ entryId, isSince, ...places, undoes, leafId, dryRun });
    const done = files
      ? await orRefused(() => (dryRun ? take() : session.perform(take)))
      : { files: { changed: [], conflicts: [], notCovered: [] }, undoCheckpointId: undefined };
    const text = conversation && undoes === undefined ? { text: entry.text } : {};
    const { undoCheckpointId } = done;
    const undo = undoCheckpointId === undefined ? {} : { undoCheckpointId };
    return { entryId, files: done.files, ...text, ...undo };
  }

  async #record(tool: AgentTool, call: ToolCall): Promise<void> {
    if (await onlyReads(tool, call)) return;
    const entryId = this.#options.session().promptEntryId();
    if (entryId === undefined) return;
    await this.#quietly(async () => (await this.#open()).begin(entryId));
  }

  /** The message to go back to, the rewind to take back, and where the conversation continues. */
  #targetOf(
    { entryId, checkpointId }: RewindRequest,
    engine: RewindEngine,
    session: RewindSession,
  ): { entryId: string; undoes?: string; target: string | null } {
    if ((entryId === undefined) === (checkpointId === undefined)) {
      const reason = "give it or checkpointId, one of the two";
      throw new SessionError("invalid_params", { field: "entryId", command: "rewind", reason });
    }
    if (entryId !== undefined) return { entryId, target: entryId };
    const id = checkpointId ?? "";
    const found = engine.find(id);
    if (found === undefined) throw new SessionError("checkpoint_not_found", { checkpointId: id });
    if (found.type === "begin") return { entryId: found.entryId, target: found.entryId };
    const target = found.leafId === session.leafId ? null : found.leafId;
    return { entryId: found.entryId, undoes: id, target };
  }

  #checkEnabled(): void {
    if (!this.isEnabled) throw new SessionError("rewind_disabled");
  }

  async #open(): Promise<RewindEngine> {
    const { environment, elsewhere, directory, ownFolders, options, session } = this.#options;
    const { id: sessionId } = session();
    const folder = await this.#realFolder();
    const key = JSON.stringify([sessionId, folder]);
    if (this.#engine?.key !== key) {
      await this.endPrompt();
      const { maxFileBytes = 0, maxTotalBytes = 0, keep = 0 } = options();
      const limits = { maxFileBytes, maxTotalBytes };
      const place = { folder, directory, ownFolders: [...ownFolders(), directory], limits };
      const opened = import("./rewind-engine.ts").then(({ RewindEngine: Engine }) =>
        Engine.open({ ...place, environment, elsewhere, sessionId, keep }),
      );
      this.#engine = { key, opened };
      // The next attempt opens the engine again.
      opened.catch(() => {
        this.#engine = undefined;
      });
    }
    return this.#engine.opened;
  }

  async #realFolder(): Promise<string> {
    const { environment, elsewhere } = this.#options;
    const { cwd } = environment;
    if (elsewhere !== undefined) return (await elsewhere.stat(cwd))?.realPath ?? cwd;
    return process.getBuiltinModule("node:fs").realpathSync(cwd);
  }

  /** If recording fails, the prompt runs without a checkpoint. */
  async #quietly(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const message = `Rewind: the files could not be recorded: ${errorMessage(error)}`;
      this.#options.note({ severity: "error", message });
    }
  }
}

function userEntryOf(session: RewindSession, entryId: string): UserEntry {
  const entry = session.userEntry(entryId);
  if (entry === null) throw new SessionError("entry_not_found", { entryId });
  if (entry === undefined) throw new SessionError("invalid_rewind_entry", { entryId });
  return entry;
}

async function orRefused<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SessionError) throw error;
    throw new SessionError("rewind_failed", { reason: errorMessage(error) }, { cause: error });
  }
}

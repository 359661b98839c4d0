import { type AgentTool, onlyReads } from "@tau-agent/agent";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import type { ToolCall } from "@tau-agent/rpc-protocol/messages";
import type { Workspace, WorkspaceOwner } from "@tau-agent/rpc-protocol/workspace";
import type { SessionLog } from "@tau-agent/sessions/log";
import { randomHex, unlessMissing } from "@tau-agent/system";
import type { StartedJob } from "../jobs/running-jobs.ts";
import type { CallContext, CallContexts } from "./call-context.ts";
import { type CallRecord, CallRecords, firstMissing, hashOf, isAnswered } from "./call-records.ts";
import type { FolderRecorder } from "./folder-recorder.ts";
import type { FolderTurns } from "./folder-turns.ts";
import { interruptedResult } from "./interrupted-result.ts";
import { JobBeats } from "./job-beats.ts";
import { KeptCommand } from "./kept-command.ts";
import { restoreCall } from "./restore-call.ts";
import { type StartedCall, startedCalls, TOOL_STARTED } from "./started-calls.ts";

export interface DurableCallsOptions {
  /** Where tools act; its changes carry the owner, even outside of calls. */
  readonly workspace: Workspace;
  readonly contexts: CallContexts;
  readonly owner: () => WorkspaceOwner;
  /** False for a subagent's session. */
  readonly isRoot: boolean;
  readonly folder: () => string;
  readonly log: () => SessionLog;
  readonly findTool: (name: string) => AgentTool | undefined;
  readonly isBuiltIn: (tool: AgentTool) => boolean;
  readonly recorder: FolderRecorder | undefined;
  readonly turns: FolderTurns;
  readonly keepMs: number;
  readonly onWait: (call: ToolCall) => void;
  readonly jobs: {
    /** The job that a `bash` call recorded for this command before starting it. */
    startedAs(commandId: string): Promise<StartedJob | undefined>;
    /** The commands of jobs that continue. */
    keptCommands(): Promise<readonly string[]>;
    /** Takes over the jobs of earlier hosts. */
    adoptAll(): Promise<void>;
  };
}

/** Built-in tools that change nothing in the workspace, so they can be repeated. */
const harmless: ReadonlySet<string> = new Set(["todo_write", "job_kill", "call_tool", "ask_user"]);
const fileTools: ReadonlySet<string> = new Set(["edit", "write"]);
const beatMs = 1_000;

/**
 * Makes each changing call of a session take effect exactly once (decision 63): before a call begins, the log has its
 * start, and the workspace has what is needed to revert it.
 */
export class DurableCalls {
  readonly #options: DurableCallsOptions;
  readonly #records: CallRecords;
  readonly #running = new Map<string, CallRecord>();
  readonly #jobs: JobBeats;
  /** Calls that an earlier host started. They are never started again. */
  #started = new Map<string, StartedCall>();
  #opened: Promise<void> = Promise.resolve();
  #touched = false;

  constructor(options: DurableCallsOptions) {
    this.#options = options;
    this.#records = new CallRecords(options.workspace, () => options.owner().session);
    this.#jobs = new JobBeats(this.#records);
  }

  /** Takes the session over from an earlier host; calls wait until this is done. */
  openLog(log: SessionLog): Promise<void> {
    this.#started = startedCalls(log);
    this.#running.clear();
    if (!this.#options.isRoot || log.tree.length === 0) return Promise.resolve();
    this.#opened = this.#takeOver();
    this.#opened.catch(() => {});
    return this.#opened;
  }

  /** Whether an earlier host started a call, so that it is neither judged nor started again. */
  hasStarted({ id }: Pick<ToolCall, "id">): boolean {
    return this.#started.has(id);
  }

  /** Runs a call, or continues one of an earlier host. */
  async run(
    call: ToolCall,
    execute: () => Promise<ToolResult>,
    signal: AbortSignal,
  ): Promise<ToolResult> {
    await this.#opened;
    const { turns, folder, findTool, onWait } = this.#options;
    const inTurn = <Result>(work: () => Promise<Result>) =>
      turns.run(folder(), { signal, onWait: () => onWait(call) }, work);
    const started = this.#started.get(call.id);
    if (started !== undefined) return inTurn(() => this.#goOn(call, started, execute));
    const tool = findTool(call.name);
    const isHarmless = tool === undefined || tool.isReadOnly === true || harmless.has(call.name);
    if (isHarmless || (await onlyReads(tool, call))) {
      return execute();
    }
    if (call.name === "task") {
      await this.#noteStart(call, {});
      return this.#runTask(call, execute, inTurn);
    }
    return inTurn(() => this.#begin(call, tool, execute));
  }

  /** The result of a call is stored: the call will never be reverted. */
  noteResult(toolCallId: string): void {
    // A later reply may contain a call with the same id.
    this.#started.delete(toolCallId);
    const record = this.#running.get(toolCallId);
    if (record === undefined) return;
    this.#running.delete(toolCallId);
    void this.#forget(record).catch(() => {});
  }

  /** Ends a call that is not continued, and reports what it left behind. */
  async interrupt(call: ToolCall): Promise<ToolResult> {
    await this.#opened;
    const started = this.#started.get(call.id);
    if (started === undefined) {
      return interruptedResult({ files: undefined, ranCommand: false, hasStarted: false });
    }
    const { folder, turns } = this.#options;
    const { signal } = new AbortController();
    return turns.run(folder(), { signal, onWait: () => {} }, () => this.#interrupt(call, started));
  }

  /** In an orderly shutdown, the session's commands end with the host. */
  async close(): Promise<void> {
    const { workspace, owner, isRoot } = this.#options;
    this.#jobs.close();
    if (!isRoot || !this.#touched) return;
    const { session, epoch } = owner();
    await workspace.durable?.endCommands({ session, beforeEpoch: epoch + 1 }).catch(() => {});
  }

  async #begin(
    call: ToolCall,
    tool: AgentTool,
    execute: () => Promise<ToolResult>,
  ): Promise<ToolResult> {
    const { contexts, isBuiltIn, recorder, owner, log } = this.#options;
    const isBash = call.name === "bash" && isBuiltIn(tool);
    const commandId = isBash ? randomHex(8) : undefined;
    const folder = this.#options.folder();
    const snapshot = isBash ? await recorder?.take(folder) : undefined;
    const { reference } = log();
    const startedAt = Date.now();
    await this.#records.touchFolder(folder);
    const record: CallRecord = {
      startedAt,
      ...{ checkpointId: randomHex(8), toolCallId: call.id, toolName: call.name },
      ...{ epoch: owner().epoch, reference, folder, commandId, snapshot, files: [] },
      isJob: isBash && call.arguments.background === true,
    };
    const isRecorded = snapshot !== undefined || fileTools.has(call.name);
    // The record for file tools is written with the first changed file.
    if (isBash) await this.#records.write(record);
    this.#running.set(call.id, record);
    if (record.isJob && commandId !== undefined) await this.#jobs.follow(commandId, folder);
    const { checkpointId } = record;
    await this.#noteStart(call, { commandId, ...(isRecorded ? { checkpointId } : {}) });
    const context: CallContext = {
      commandId,
      beforeWrite: isBash ? undefined : (path, bytes) => this.#recordFile(call.id, path, bytes),
    };
    const beat = isBash && setInterval(() => void this.#beat(record).catch(() => {}), beatMs);
    try {
      return await contexts.run(context, execute);
    } finally {
      if (beat) clearInterval(beat);
    }
  }

  /** A task holds the folder's turn only from its merge until its result is recorded. */
  async #runTask(
    call: ToolCall,
    execute: () => Promise<ToolResult>,
    inTurn: (work: () => Promise<void>) => Promise<void>,
  ): Promise<ToolResult> {
    const over = Promise.withResolvers<void>();
    let isOver = false;
    const beforeMerge = (): Promise<void> =>
      new Promise((resolve, reject) => {
        // A background task merges long after its call has a result.
        if (isOver) return resolve();
        const merging = inTurn(async () => {
          await this.#recordFolder(call);
          resolve();
          await over.promise;
        });
        merging.catch(reject);
      });
    try {
      const result = await this.#options.contexts.run({ beforeMerge }, execute);
      const record = this.#running.get(call.id);
      if (record !== undefined) await this.#records.write({ ...record, result });
      return result;
    } finally {
      isOver = true;
      over.resolve();
    }
  }

  async #recordFolder(call: ToolCall): Promise<void> {
    const folder = this.#options.folder();
    const snapshot = await this.#options.recorder?.take(folder);
    const startedAt = Date.now();
    await this.#records.touchFolder(folder);
    const record: CallRecord = {
      ...{ checkpointId: randomHex(8), toolCallId: call.id, toolName: call.name, startedAt },
      ...{ epoch: this.#options.owner().epoch, reference: this.#options.log().reference },
      ...{ folder, snapshot, files: [] },
    };
    await this.#records.write(record);
    this.#running.set(call.id, record);
  }

  /** Forgets a job whose end has been recorded. */
  async endJob(commandId: string): Promise<void> {
    await this.#jobs.end(commandId);
    await this.#command(commandId).forget();
  }

  /**
   * Shows that a call is running: other sessions see that it changes the folder, and the next host sees when this one
   * died.
   */
  async #beat(record: CallRecord): Promise<void> {
    await this.#records.write(record);
    await this.#records.touchFolder(record.folder);
  }

  async #noteStart(call: ToolCall, more: Partial<StartedCall>): Promise<void> {
    this.#touched = true;
    const log = this.#options.log();
    const { epoch } = this.#options.owner();
    const data = { toolCallId: call.id, epoch, ...more };
    log.append({ type: "custom", customType: TOOL_STARTED, data });
    await log.stored();
  }

  async #recordFile(toolCallId: string, path: string, bytes: Uint8Array): Promise<void> {
    const record = this.#running.get(toolCallId);
    if (record === undefined) return;
    const { workspace } = this.#options;
    const found = await workspace.stat(path);
    const before = found === undefined ? undefined : await unlessMissing(workspace.read(path));
    const index = record.files.length;
    if (before !== undefined) await this.#records.writeContent(record, index, before);
    const file = {
      ...{ path, existed: before !== undefined, mode: found?.mode, written: hashOf(bytes) },
      madeFolder: before === undefined ? await firstMissing(path, workspace) : undefined,
    };
    const next = { ...record, files: [...record.files, file] };
    await this.#records.write(next);
    this.#running.set(toolCallId, next);
  }

  /** Continues the command of a call, or reverts the call. */
  async #goOn(
    call: ToolCall,
    started: StartedCall,
    execute: () => Promise<ToolResult>,
  ): Promise<ToolResult> {
    const { contexts, findTool, isBuiltIn, jobs } = this.#options;
    const tool = findTool(call.name);
    const { commandId } = started;
    if (commandId !== undefined && call.name === "bash" && tool !== undefined && isBuiltIn(tool)) {
      if (call.arguments.background === true) {
        // The order matters: a job's command is forgotten once the job has ended.
        const isThere = await this.#command(commandId).hold();
        const job = await jobs.startedAs(commandId);
        if (job !== undefined && (isThere || job.hasEnd)) return jobResult(job.jobId);
      } else if (!(await this.#command(commandId).isUnclaimed())) {
        const context: CallContext = { adopts: commandId };
        const going = contexts.run(context, execute);
        const ended = await going.then(
          (result) => ({ result }),
          (error: unknown) => ({ error }),
        );
        // Otherwise the tool failed before it reached its command.
        if (context.isMissing === false) {
          if ("error" in ended) throw ended.error;
          return ended.result;
        }
      }
    }
    return this.#interrupt(call, started);
  }

  async #interrupt(call: ToolCall, started: StartedCall): Promise<ToolResult> {
    const { checkpointId, commandId } = started;
    const endedAt = commandId === undefined ? undefined : await this.#command(commandId).end();
    const record =
      checkpointId !== undefined
        ? await this.#records.read(checkpointId)
        : call.name === "task"
          ? await this.#records.find(call.id, this.#options.log().reference)
          : undefined;
    if (record?.result !== undefined) {
      this.#running.set(call.id, record);
      return record.result;
    }
    // The content of a session file gives no permission to restore another call.
    const isRecorded = checkpointId !== undefined || record?.snapshot !== undefined;
    const own = isRecorded && record?.toolCallId === call.id ? record : undefined;
    const files =
      own === undefined
        ? checkpointId === undefined
          ? undefined
          : { restored: [], left: [], notCovered: [] }
        : await this.#restore(own, endedAt);
    if (own !== undefined) this.#running.set(call.id, own);
    return interruptedResult({ files, ranCommand: call.name === "bash", hasStarted: true });
  }

  async #restore(record: CallRecord, endedAt: number | undefined) {
    const { workspace, recorder } = this.#options;
    const touchedAt = await this.#records.touchedAt(record.checkpointId);
    const died = touchedAt === undefined ? Number.POSITIVE_INFINITY : touchedAt + 2 * beatMs;
    const restoreFolder =
      recorder && ((...of: Parameters<FolderRecorder["restore"]>) => recorder.restore(...of));
    const { folder, startedAt } = record;
    const isShared = await this.#records.hasOthers(folder, startedAt - 2 * beatMs);
    const parts = { workspace, records: this.#records, restoreFolder, isShared };
    return restoreCall(record, parts, endedAt ?? died);
  }

  /** Claims the session, keeps the commands of its open calls, ends all others, and reverts subagents' calls. */
  async #takeOver(): Promise<void> {
    const { workspace, owner, log, jobs } = this.#options;
    const open = [...this.#started.values()].flatMap(({ commandId }) => commandId ?? []);
    const ofJobs = await jobs.keptCommands();
    for (const commandId of ofJobs) await this.#jobs.follow(commandId, this.#options.folder());
    for (const commandId of new Set([...open, ...ofJobs])) {
      await this.#command(commandId).hold();
    }
    const records = await this.#records.list();
    const { reference } = log();
    const nested = records.filter((record) => record.reference !== reference);
    const ends = await Promise.all(
      nested.map(({ commandId }) => commandId && this.#command(commandId).endedAt()),
    );
    const { session, epoch } = owner();
    this.#touched = true;
    await workspace.durable?.endCommands({ session, beforeEpoch: epoch });
    for (const [index, record] of nested.entries()) {
      // The folder may have been an isolated tree that no longer exists.
      const restoring = (await isAnswered(record))
        ? undefined
        : this.#restore(record, Number(ends[index]) || undefined);
      await restoring?.catch(() => undefined);
      await this.#records.remove(record);
    }
    void jobs.adoptAll().catch(() => undefined);
    for (const record of records) {
      if (!nested.includes(record) && !this.#started.has(record.toolCallId))
        await this.#forget(record);
    }
  }

  #command(commandId: string): KeptCommand {
    const { workspace, owner, keepMs } = this.#options;
    return new KeptCommand(commandId, { workspace, owner, keepMs });
  }

  async #forget(record: CallRecord): Promise<void> {
    await this.#records.remove(record);
    if (record.commandId !== undefined && !record.isJob)
      await this.#command(record.commandId).forget();
  }
}

function jobResult(jobId: string): ToolResult {
  const text = `Started in the background as ${jobId}.`;
  return { content: [{ type: "text", text }], details: { jobId } };
}

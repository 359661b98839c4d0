import type { SessionEntry, SubagentInfo } from "@tau-agent/rpc-protocol";
import type { AgentMessage, CustomMessage } from "@tau-agent/rpc-protocol/messages";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import {
  conversationOf,
  nothingUsed,
  plus,
  readConversation,
  type WrittenConversation,
} from "@tau-agent/sessions/log";
import { SparseMap, SparseSet } from "@tau-agent/system";
import type { Subagent, SubagentControl, SubagentMessages } from "../runners/subagent-runner.ts";
import { nestedRefusal } from "./nested-refusal.ts";
import { fileOf, infoOf, messagesOf, recordsIn, type SubagentRecord } from "./subagent-record.ts";
import type { TaskResult } from "./task-result.ts";

/** The longest time that a call waits for the end of a subagent. */
const MAX_WAIT_MS = 60_000;

/** A running subagent, until its end has been reported. */
export interface RunningSubagent {
  readonly id: string;
  /** Aborts to stop this subagent. */
  readonly signal: AbortSignal;
}

interface Live extends RunningSubagent {
  readonly controller: AbortController;
  readonly owner: string;
  readonly notifies: boolean;
  readonly started: PromiseWithResolvers<Subagent>;
  readonly ended: PromiseWithResolvers<void>;
}

export interface SubagentsOptions {
  /** The session's own log. */
  readonly log: () => {
    readonly header: { readonly id: string };
    readonly tree: { readonly entries: readonly SessionEntry[] };
  };
  readonly note: (record: SubagentRecord) => void;
  /** Tells the model about the end of a subagent that no call waits for. */
  readonly notify: (message: CustomMessage) => void;
  /** The lines of a subagent in the session's store. */
  readonly readStored: (reference: string) => Promise<readonly object[] | undefined>;
  /** Fetches its files from the session's store if they are missing on this machine. */
  readonly restore: (record: SubagentRecord) => Promise<void>;
  /** Continues an ended subagent; its end is not announced to the model. */
  readonly resume: (record: SubagentRecord, message: string) => Promise<void>;
}

/**
 * The subagents of a session, running or not. Each has its own id, which the session's file records with its outcome.
 * Running subagents can be stopped, steered and reported individually.
 */
export class SessionSubagents implements SubagentControl {
  readonly #options: SubagentsOptions;
  readonly #live = new SparseMap<string, Live>();
  readonly #claimed = new SparseSet<string>();
  readonly #resuming = new SparseSet<string>();
  #records: { readonly owner: string; readonly byId: Map<string, SubagentRecord> } | undefined;
  /** The conversations of subagents without a file. */
  readonly #lines = new SparseMap<string, readonly object[]>();
  #isClosed = false;

  constructor(options: SubagentsOptions) {
    this.#options = options;
  }

  /** All subagents, including nested ones, oldest first. */
  async list(): Promise<SubagentInfo[]> {
    const found = new Map<string, SubagentInfo>();
    for (const record of this.#known().values()) {
      for (const info of [infoOf(record), ...(await this.#below(record))]) {
        if (!found.has(info.id) || info.id === record.id) found.set(info.id, info);
      }
    }
    return [...found.values()].toSorted((one, other) => one.startedAt - other.startedAt);
  }

  /** @throws {SessionError} `subagent_not_found` */
  async messages(path: string, since?: string): Promise<SubagentMessages> {
    const { live, record, rest } = this.#find(path);
    if (live !== undefined) {
      const { control, transcript } = await this.#started(live, path);
      if (rest !== "")
        return (await nestedRefusal(control?.messages(rest, since), path)) ?? { messages: [] };
      const [, ...entries] = (await transcript?.()) ?? [];
      return messagesOf(entries as SessionEntry[], since);
    }
    const written = await this.#writtenBy(record, rest, path);
    return messagesOf(written?.conversation?.entries ?? [], since);
  }

  /** @throws {SessionError} `subagent_not_found`, `subagent_not_running` */
  async steer(path: string, message: string): Promise<void> {
    const { live, rest } = this.#find(path);
    const subagent = await this.#started(live, path);
    const { control } = subagent;
    await (rest === ""
      ? subagent.steer?.(message)
      : nestedRefusal(control?.steer(rest, message), path));
  }

  /**
   * Stops a subagent and its own subagents; resolves once it has ended.
   *
   * @throws {SessionError} `subagent_not_found`, `subagent_not_running`
   */
  async abort(path: string): Promise<void> {
    const { live, rest } = this.#find(path);
    if (live === undefined) throw new SessionError("subagent_not_running", { subagentId: path });
    if (rest !== "") {
      await nestedRefusal((await this.#started(live, path)).control?.abort(rest), path);
      return;
    }
    live.controller.abort();
    await live.ended.promise;
  }

  /**
   * Continues an ended subagent. From then on it works for this session, even if another subagent started it: the end
   * of that subagent does not end it.
   *
   * @throws {SessionError} `subagent_not_found`, `subagent_running`
   */
  async resume(path: string, message: string): Promise<void> {
    if (this.#resuming.has(path)) throw new SessionError("subagent_running", { subagentId: path });
    this.#resuming.add(path);
    try {
      await this.#options.resume(await this.resumable(path), message);
    } finally {
      this.#resuming.delete(path);
    }
  }

  /**
   * An ended subagent that can be continued.
   *
   * @throws {SessionError} `subagent_not_found`, `subagent_running`
   */
  async resumable(path: string): Promise<SubagentRecord> {
    const { live, record, rest } = this.#find(path);
    const isRunning = live !== undefined && (rest === "" || (await this.#isRunning(path)));
    if (isRunning) throw new SessionError("subagent_running", { subagentId: path });
    if (rest === "") return record;
    const nested = (await this.#writtenBy(record, rest, path)).record;
    await this.#options.restore(nested);
    return { ...nested, sessionFile: await fileOf(nested), id: path };
  }

  /** A subagent's last message, once it has ended or the time is over. @throws {SessionError} */
  async output(
    path: string,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<{ readonly info: SubagentInfo; readonly text: string }> {
    const { live } = this.#find(path);
    if (live !== undefined) await ended(live, Math.min(waitMs, MAX_WAIT_MS), signal);
    const info = (await this.list()).find(({ id }) => id === path);
    if (info === undefined) throw new SessionError("subagent_not_found", { subagentId: path });
    const known = info.status === "running" ? undefined : this.#known().get(path)?.output;
    return { info, text: known ?? lastText((await this.messages(path)).messages) };
  }

  /** An id that no subagent of the session has had. */
  claim(wanted: string): string {
    const known = this.#known();
    for (let count = 1; ; count++) {
      const id = count === 1 ? wanted : `${wanted}~${count}`;
      if (known.has(id) || this.#claimed.has(id) || this.#live.has(id)) continue;
      this.#claimed.add(id);
      return id;
    }
  }

  /** Registers a subagent that starts, or starts again. */
  begin(
    record: SubagentRecord,
    { notifies = false }: { readonly notifies?: boolean } = {},
  ): RunningSubagent {
    const { id } = record;
    if (this.#live.has(id)) throw new SessionError("subagent_running", { subagentId: id });
    const controller = new AbortController();
    const live: Live = {
      ...{ id, controller, signal: controller.signal, notifies },
      owner: this.#options.log().header.id,
      started: Promise.withResolvers(),
      ended: Promise.withResolvers(),
    };
    // There may be no waiting caller.
    live.started.promise.catch(() => {});
    // Recorded first: a subagent that cannot be recorded must not begin.
    this.#keep(live, record);
    this.#live.set(id, live);
    return live;
  }

  /** Makes a subagent reachable for messages from now on. */
  attach(id: string, subagent: Subagent): void {
    const { sessionFile } = subagent;
    if (sessionFile !== undefined) this.note(id, { sessionFile });
    this.#live.get(id)?.started.resolve(subagent);
  }

  /** Updates the record of a running subagent. */
  note(id: string, change: Partial<SubagentRecord> | undefined): void {
    const live = this.#live.get(id);
    const record = this.#known(live?.owner).get(id);
    if (live !== undefined && record !== undefined && change !== undefined) {
      this.#keep(live, { ...record, ...change });
    }
  }

  /** Keeps the conversation of a subagent without a file, as long as this host lives. */
  keepLines(id: string, lines: readonly object[] | undefined): void {
    if (lines !== undefined) this.#lines.set(id, lines);
  }

  /** Registers the end of a subagent. Only the first end counts. */
  end(result: TaskResult, text: string): void {
    const live = this.#live.get(result.id);
    const before = this.#known(live?.owner).get(result.id);
    if (live === undefined) return;
    this.#live.delete(result.id);
    live.started.reject(new SessionError("subagent_not_running", { subagentId: result.id }));
    const { status, output, sessionFile, storedSession, patch, used } = result;
    // Waiting callers are notified even if the end cannot be recorded.
    live.ended.resolve();
    const isCutOff = this.#isClosed && status === "aborted";
    if (before !== undefined) {
      this.#keep(live, {
        ...before,
        status: isCutOff ? "interrupted" : status,
        endedAt: Date.now(),
        usage: plus(before.usage ?? nothingUsed, used),
        output,
        sessionFile: sessionFile ?? before.sessionFile,
        storedSession: storedSession ?? before.storedSession,
        keptPatch: keptPatchOf(patch, before),
        treePatch: undefined,
      });
    }
    const concerns = live.owner === this.#options.log().header.id;
    if (live.notifies && concerns && !this.#isClosed) this.#options.notify(noticeOf(result, text));
  }

  /** Ends the session's running subagents, because the session ends. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const running = [...this.#live.values()];
    for (const { controller } of running) controller.abort();
    await Promise.all(running.map(({ ended: { promise } }) => promise));
  }

  #keep(live: Live, record: SubagentRecord): void {
    this.#known(live.owner).set(record.id, record);
    // Other conversations are not notified.
    if (live.owner === this.#options.log().header.id) this.#options.note(record);
  }

  /** The recorded subagents of the session's conversation, read once. */
  #known(owner?: string): Map<string, SubagentRecord> {
    const log = this.#options.log();
    const { id } = log.header;
    if (owner !== undefined && owner !== id) return new Map();
    if (this.#records?.owner !== id) {
      this.#records = { owner: id, byId: recordsIn(log.tree.entries) };
      this.#claimed.clear();
    }
    return this.#records.byId;
  }

  #find(path: string): {
    readonly live: Live | undefined;
    readonly record: SubagentRecord;
    /** The path below the subagent; empty for the subagent itself. */
    readonly rest: string;
  } {
    const known = this.#known();
    for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1)) {
      const id = path.slice(0, end);
      const record = known.get(id);
      if (record === undefined) continue;
      return { live: this.#live.get(id), record, rest: path.slice(end + 1) };
    }
    throw new SessionError("subagent_not_found", { subagentId: path });
  }

  /** The conversation of an ended subagent; undefined if nothing was kept. */
  async read(record: SubagentRecord): Promise<WrittenConversation | undefined> {
    await this.#options.restore(record);
    const path = await fileOf(record);
    const written = path === undefined ? undefined : await readConversation(path);
    if (written !== undefined) return written;
    const { storedSession, id } = record;
    const stored =
      storedSession === undefined ? undefined : await this.#options.readStored(storedSession);
    const kept = this.#lines.get(id) ?? stored ?? (await this.#saidBy(id));
    const [header, ...entries] = kept ?? [];
    if (header === undefined) return undefined;
    return conversationOf({ header, entries } as Parameters<typeof conversationOf>[0]);
  }

  async #isRunning(path: string): Promise<boolean> {
    return (await this.list()).some(({ id, status }) => id === path && status === "running");
  }

  /** The lines of a running subagent. */
  async #saidBy(id: string): Promise<readonly object[] | undefined> {
    const subagent = await this.#live.get(id)?.started.promise.catch(() => undefined);
    return subagent?.transcript?.();
  }

  async #started(live: Live | undefined, path: string): Promise<Subagent> {
    if (live === undefined) throw new SessionError("subagent_not_running", { subagentId: path });
    return live.started.promise;
  }

  async #below(record: SubagentRecord): Promise<SubagentInfo[]> {
    const live = this.#live.get(record.id);
    if (live === undefined) return this.#writtenBelow(record, `${record.id}/`);
    const subagent = await Promise.race([live.started.promise.catch(() => undefined), soon()]);
    const infos = (await subagent?.control?.list().catch(() => [])) ?? [];
    return infos.map((info) => ({ ...info, id: `${record.id}/${info.id}` }));
  }

  async #writtenBelow(record: SubagentRecord, prefix: string): Promise<SubagentInfo[]> {
    const conversation = await this.read(record);
    const infos: SubagentInfo[] = [];
    for (const nested of recordsIn(conversation?.entries ?? []).values()) {
      infos.push(infoOf(nested, prefix));
      infos.push(...(await this.#writtenBelow(nested, `${prefix}${nested.id}/`)));
    }
    return infos;
  }

  async #writtenBy(
    record: SubagentRecord,
    rest: string,
    path: string,
  ): Promise<{ record: SubagentRecord; conversation: WrittenConversation | undefined }> {
    const conversation = await this.read(record);
    if (rest === "") return { record, conversation };
    for (const nested of recordsIn(conversation?.entries ?? []).values()) {
      if (rest === nested.id) return this.#writtenBy(nested, "", path);
      if (rest.startsWith(`${nested.id}/`)) {
        return this.#writtenBy(nested, rest.slice(nested.id.length + 1), path);
      }
    }
    throw new SessionError("subagent_not_found", { subagentId: path });
  }
}

/** The patch with work that is not in the caller's files: the new one, or else the earlier one. */
function keptPatchOf(patch: TaskResult["patch"], before: SubagentRecord): string | undefined {
  // The subagent did no work, for instance because the earlier patch did not apply.
  if (patch === undefined) return before.keptPatch;
  const isKept = ["kept", "branch", "conflict"].includes(patch.status);
  return isKept ? patch.path : undefined;
}

/** A subagent that does not start within this turn of the event loop has no subagents of its own yet. */
function soon(): Promise<undefined> {
  return new Promise((resolve) => setImmediate(() => resolve(undefined)));
}

async function ended(live: Live, waitMs: number, signal: AbortSignal): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, Math.max(0, waitMs));
  signal.addEventListener("abort", () => resolve(), { once: true });
  await Promise.race([live.ended.promise, over]);
  clearTimeout(timer);
}

function lastText(messages: readonly AgentMessage[]): string {
  for (const message of messages.toReversed()) {
    if (message.role !== "assistant") continue;
    const text = message.content
      .map((block) => (block.type === "text" ? block.text : ""))
      .join("")
      .trim();
    if (text !== "") return text;
  }
  return "";
}

function noticeOf({ id, status, exitCode }: TaskResult, text: string): CustomMessage {
  return {
    role: "custom",
    customType: "subagent_end",
    content: `Background subagent ${id} has ended.\n\n${text}`,
    display: true,
    details: { id, status, exitCode },
    timestamp: Date.now(),
  };
}

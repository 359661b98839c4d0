import type { SessionEntry } from "@tau-agent/rpc-protocol";
import type {
  AgentMessage,
  Model,
  ThinkingLevel,
  ToolResultMessage,
} from "@tau-agent/rpc-protocol/messages";
import { isThinkingLevel, SessionError } from "@tau-agent/rpc-protocol/plain";
import type { Diagnostic } from "@tau-agent/system";
import { answerLeftCalls, answerOpenCalls, resultsOfLeftCalls } from "./answer-open-calls.ts";
import { contextOfBranch, countMessages, resumedModel, StoredMessages } from "./branch-context.ts";
import {
  type ClearedResult,
  clearedResultsEntry,
  emptyResultView,
  type ResultView,
  resultKey,
  savedBy,
} from "./cleared-results.ts";
import {
  ENVIRONMENT_ENTRY,
  type EnvironmentFacts,
  environmentText,
  type MessageNotes,
  OUTPUT_ENTRY,
} from "./environment-note.ts";
import { noteModel } from "./note-model.ts";
import type { SessionContext } from "./session-context.ts";
import type { NewEntry, SessionLog } from "./session-log.ts";

interface ConversationAgent {
  readonly messages: readonly AgentMessage[];
  append(message: AgentMessage): void;
  replaceMessages(messages: readonly AgentMessage[]): void;
  replaceMessagesLater(read: () => readonly AgentMessage[]): void;
}

interface ConversationModels {
  readonly model: Model | undefined;
  readonly thinkingLevel: ThinkingLevel;
  readonly registry: {
    find(provider: string, id: string): Promise<Model | undefined>;
    isAvailable(model: Model): Promise<boolean>;
  };
  /** Adopts the session's model and level without writing an entry. */
  restore(model: Model | undefined, level: ThinkingLevel): void;
}

interface ConversationOptions {
  readonly agent: ConversationAgent;
  readonly models: ConversationModels;
  /** The current surroundings; the model receives a note when they have changed. */
  readonly environment: () => EnvironmentFacts;
  readonly openLog: (
    path: string,
  ) => Promise<{ log: SessionLog; diagnostics: readonly Diagnostic[] }>;
  /** Adopts everything in a log besides its messages, now and whenever another log replaces it. */
  readonly adoptLog: (log: SessionLog) => void;
  /** Moves tools and texts to the folder of the session that is continued. */
  readonly enterFolder: (log: SessionLog) => readonly Diagnostic[];
  readonly note: (diagnostic: Diagnostic) => void;
}

interface LeafMove {
  readonly leafId: string | null;
  readonly entry?: NewEntry | undefined;
  readonly label?: string | undefined;
  /** The entry that gets the label. */
  readonly targetId: string;
}

interface RecordedPrompt {
  readonly promptId?: string | undefined;
  /** A text that is added to the message in requests only. */
  readonly note?: string | undefined;
}

/**
 * The one writer of a session: its log and the agent's messages change only here, so the model reads
 * exactly what the file contains.
 */
export class Conversation {
  readonly #options: ConversationOptions;
  #log: SessionLog;
  /** The leaf moved, and no message was added since. */
  #hasMoved = false;
  #notes = new Map<number, string>();
  #environment: SessionContext["environment"];
  #results = emptyResultView();
  /** The branch whose messages have not been read yet, and their number if it can be known. */
  #unread: { readonly leafId: string | null; readonly count: () => number | undefined } | undefined;

  constructor(log: SessionLog, options: ConversationOptions) {
    this.#options = options;
    this.#log = log;
    options.adoptLog(log);
    this.rebuild();
  }

  /** The session's entries and its file. */
  get log(): SessionLog {
    return this.#log;
  }

  /** The messages the model reads. */
  get messages(): readonly AgentMessage[] {
    return this.#options.agent.messages;
  }

  /** How many messages the model reads; counted without reading them, if possible. */
  get messageCount(): number {
    return this.#unread?.count() ?? this.messages.length;
  }

  /**
   * The messages that the model reads, as stored in their file; undefined if they have been read
   * already, or must be read to know which of them count.
   */
  get storedMessages(): StoredMessages | undefined {
    const { tree } = this.#log;
    if (this.#unread === undefined || tree.isRead) return undefined;
    const { leafId, count } = this.#unread;
    return count() === undefined ? undefined : new StoredMessages(tree, leafId);
  }

  /** Texts that are added to messages in requests only. */
  get notes(): MessageNotes {
    this.#readMessages();
    return this.#notes;
  }

  /** How requests show tool results. */
  get results(): ResultView {
    this.#readMessages();
    return this.#results;
  }

  /**
   * Makes requests show these results as one line from now on, even after the session is opened again.
   *
   * @throws {SessionError} as `SessionLog.append`
   */
  clear(results: ReadonlyMap<ToolResultMessage, ClearedResult>): void {
    const all = [...results.values()];
    const { cleared, savings } = this.results;
    const since = Date.parse(this.#log.append(clearedResultsEntry(all)).timestamp);
    for (const [message, result] of results) cleared.set(resultKey(message), { ...result, since });
    const last = this.messages.at(-1);
    if (last !== undefined) savings.set(last, (savings.get(last) ?? 0) + savedBy(all));
  }

  /** Adds a message outside of a run: first to the file, then to the conversation. */
  add(message: AgentMessage): void {
    this.record(message);
    this.#options.agent.append(message);
  }

  /** Writes a message that the running agent adds to the conversation itself. */
  record(message: AgentMessage, { promptId, note }: RecordedPrompt = {}): void {
    if (this.#hasMoved) this.#answerLeftCalls();
    if (message.role === "user") {
      if (note !== undefined) this.#noteOutput(message.timestamp, note);
      this.#noteEnvironment(message.timestamp);
    }
    const { id } = this.#log.append(entryOf(message, promptId), timeOf(message));
    if (message.role === "toolResult") this.results.entryIds.set(message, id);
  }

  /**
   * Writes an entry that the model does not read.
   *
   * @throws {SessionError} as `SessionLog.append`
   */
  append(entry: NewEntry): SessionEntry {
    return this.#log.append(entry);
  }

  /**
   * Writes an entry that changes what the model reads, such as a compaction.
   *
   * @throws {SessionError} as `SessionLog.append`
   */
  adopt(entry: NewEntry): SessionEntry {
    const written = this.#log.append(entry);
    this.#replaceMessages();
    return written;
  }

  /**
   * Removes messages from what the model reads; they stay in the file.
   *
   * @returns a function that puts them back where they were
   */
  drop(messages: readonly AgentMessage[]): () => void {
    const { agent } = this.#options;
    const gone = new Set(messages);
    const dropped = agent.messages.filter((message) => gone.has(message));
    const [first] = dropped;
    if (first === undefined) return () => {};
    const index = agent.messages.indexOf(first);
    agent.replaceMessages(agent.messages.filter((message) => !gone.has(message)));
    return () => agent.replaceMessages(agent.messages.toSpliced(index, 0, ...dropped));
  }

  /** Replaces what the model reads in this process only, as pi's extensions may do; the file stays unchanged. */
  override(messages: readonly AgentMessage[]): void {
    this.#readMessages();
    this.#options.agent.replaceMessages(messages);
  }

  /**
   * Names the session and returns the name as stored.
   *
   * @throws {SessionError} `session_name_empty`
   */
  rename(name: string): string {
    const clean = name.replace(/\s*[\r\n]+\s*/g, " ").trim();
    if (clean === "") throw new SessionError("session_name_empty");
    this.#log.append({ type: "session_info", name: clean });
    return clean;
  }

  /**
   * Continues from another leaf. If an entry cannot be written there, the leaf does not move.
   *
   * @returns the entry written at the new leaf
   */
  moveTo({ leafId, entry, label, targetId }: LeafMove): SessionEntry | undefined {
    const log = this.#log;
    const left = log.tree.leafId;
    log.tree.moveLeaf(leafId);
    try {
      if (entry !== undefined) answerLeftCalls(log);
      const written = entry && log.append(entry);
      if (label) log.append({ type: "label", targetId, label });
      this.rebuild();
      return written;
    } catch (error) {
      log.tree.moveLeaf(left);
      throw error;
    }
  }

  /** Reads the messages from the log again, after its leaf has moved. */
  rebuild(): void {
    this.#replaceMessages();
    this.#hasMoved = true;
  }

  /** Notes that the open calls of the last reply are being carried out, so they get no "left" result. */
  resumeCalls(): void {
    this.#hasMoved = false;
  }

  /** Opens another session to continue; the current one stays in use. */
  async open(path: string): Promise<SessionLog> {
    const { log, diagnostics } = await this.#options.openLog(path);
    for (const diagnostic of diagnostics) this.#options.note(diagnostic);
    return log;
  }

  /**
   * Prepares for a prompt: reads a session again whose store failed.
   *
   * @returns undefined if there is nothing to do
   * @throws {SessionError} `session_lost`, `session_write_failed`
   */
  recover(): Promise<void> | undefined {
    return this.#log.recover()?.then(async () => {
      await answerOpenCalls(this.#log);
      this.rebuild();
    });
  }

  /** Continues with another log; a continued session restores its model and level. */
  async replace(log: SessionLog, isContinued: boolean): Promise<void> {
    const { models } = this.#options;
    const closed = this.#log.close();
    if (closed !== undefined) await closed;
    this.#log = log;
    this.#options.adoptLog(log);
    this.rebuild();
    if (isContinued) {
      for (const diagnostic of this.#options.enterFolder(log)) this.#options.note(diagnostic);
      await this.#restoreModel();
    }
    noteModel(log, models.model, models.thinkingLevel);
  }

  /**
   * Messages are read on demand: session state, a switch or a fork do not need them (rows "100 000
   * entries: spawn, switch_session, fork").
   */
  #replaceMessages(): void {
    const { tree } = this.#log;
    const { leafId } = tree;
    this.#unread = { leafId, count: once(() => countMessages(tree, leafId)) };
    this.#options.agent.replaceMessagesLater(() => {
      const { messages, notes, environment, results } = contextOfBranch(tree, leafId);
      this.#unread = undefined;
      this.#notes = notes;
      this.#environment = environment;
      this.#results = results;
      return messages;
    });
  }

  #readMessages(): void {
    if (this.#unread !== undefined) void this.messages;
  }

  /** Writes a separate entry, so that the system prompt and the user's words stay unchanged. */
  #noteEnvironment(timestamp: number): void {
    this.#readMessages();
    const data = this.#options.environment();
    const text = environmentText(data);
    const isKnown = this.#environment?.text === text;
    if (isKnown && !this.#environment?.isWaiting) return;
    if (!isKnown) this.#log.append({ type: "custom", customType: ENVIRONMENT_ENTRY, data });
    this.#environment = { text, isWaiting: false };
    this.#addNote(timestamp, text);
  }

  /** A separate entry like that of the environment: requests include it, but the user's words stay unchanged. */
  #noteOutput(timestamp: number, text: string): void {
    this.#readMessages();
    this.#log.append({ type: "custom", customType: OUTPUT_ENTRY, data: { text } });
    this.#addNote(timestamp, text);
  }

  #addNote(timestamp: number, text: string): void {
    const before = this.#notes.get(timestamp);
    this.#notes.set(timestamp, before === undefined ? text : `${before}\n\n${text}`);
  }

  /** Written with the next message, because viewing a branch must not change its file. */
  #answerLeftCalls(): void {
    for (const message of resultsOfLeftCalls(this.#log)) {
      const { id } = this.#log.append({ type: "message", message });
      this.#options.agent.append(message);
      this.#results.entryIds.set(message, id);
    }
    this.#hasMoved = false;
  }

  /** The branch, not the most recent choice, decides which model continues it. */
  async #restoreModel(): Promise<void> {
    const { models, note } = this.#options;
    const { model, thinkingLevel } = resumedModel(this.#log.tree);
    const { registry } = models;
    const found = model && (await registry.find(model.provider, model.modelId));
    const isUsable = found !== undefined && (await registry.isAvailable(found));
    if (model !== undefined && !isUsable) {
      const { model: other } = models;
      const used = other === undefined ? "no other one is" : `using ${other.provider}/${other.id}`;
      const message = `The session's model ${model.provider}/${model.modelId} is not available; ${used}`;
      note({ severity: "warning", message });
    }
    const isLevel = thinkingLevel !== undefined && isThinkingLevel(thinkingLevel);
    models.restore(isUsable ? found : models.model, isLevel ? thinkingLevel : models.thinkingLevel);
  }
}

/** Computes a value once: the content of a branch does not change. */
function once<Value>(compute: () => Value): () => Value {
  let known: { readonly value: Value } | undefined;
  return () => {
    known ??= { value: compute() };
    return known.value;
  };
}

/** Messages of extensions have a separate entry type. */
function entryOf(message: AgentMessage, promptId: string | undefined): NewEntry {
  if (message.role !== "custom") {
    return { type: "message", message, ...(promptId === undefined ? {} : { promptId }) };
  }
  const { customType, content, display, details } = message;
  const more = details === undefined ? {} : { details };
  return { type: "custom_message", customType, content, display, ...more };
}

/** A custom message is read back with the time of its entry, so the entry takes the message's time. */
function timeOf({ role, timestamp }: AgentMessage): Date | undefined {
  const time = new Date(timestamp);
  return role === "custom" && !Number.isNaN(time.getTime()) ? time : undefined;
}

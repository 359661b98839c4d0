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
  /** Adopts the session's choice without writing it. */
  restore(model: Model | undefined, level: ThinkingLevel): void;
}

interface ConversationOptions {
  readonly agent: ConversationAgent;
  readonly models: ConversationModels;
  /** The surroundings as they are now; told to the model when they have changed. */
  readonly environment: () => EnvironmentFacts;
  readonly openLog: (
    path: string,
  ) => Promise<{ log: SessionLog; diagnostics: readonly Diagnostic[] }>;
  /** Takes over what a log says besides its messages, now and whenever another one replaces it. */
  readonly adoptLog: (log: SessionLog) => void;
  /** Moves tools and texts to the folder of the session that continues. */
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
  /** The text that joins it in requests only. */
  readonly note?: string | undefined;
}

/**
 * The one writer of a session: its log and the agent's messages change here and nowhere else, so the
 * model reads what the file says.
 */
export class Conversation {
  readonly #options: ConversationOptions;
  #log: SessionLog;
  /** Nothing has been said since the leaf moved. */
  #hasMoved = false;
  #notes = new Map<number, string>();
  #environment: SessionContext["environment"];
  #results = emptyResultView();
  /** The branch whose messages nobody has asked for yet; how many they are, if that can be known. */
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
   * The messages the model reads, as their file has them; undefined when they have been read, or have to
   * be read to know which of them count.
   */
  get storedMessages(): StoredMessages | undefined {
    const { tree } = this.#log;
    if (this.#unread === undefined || tree.isRead) return undefined;
    const { leafId, count } = this.#unread;
    return count() === undefined ? undefined : new StoredMessages(tree, leafId);
  }

  /** What joins messages in requests only. */
  get notes(): MessageNotes {
    this.#readMessages();
    return this.#notes;
  }

  /** How requests show results of tools. */
  get results(): ResultView {
    this.#readMessages();
    return this.#results;
  }

  /**
   * Requests show these results as one line from now on, also after the session is opened again.
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
   * Takes messages out of what the model reads; they stay in the file.
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

  /** Replaces what the model reads for this process only, as pi's extensions may; the file stays. */
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
   * Goes on from another leaf. If an entry cannot be written there, the leaf stays where it was.
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

  /** The open calls of the last reply are carried out now, so they are not left. */
  resumeCalls(): void {
    this.#hasMoved = false;
  }

  /** Opens a session to go on with; the current one stays in use. */
  async open(path: string): Promise<SessionLog> {
    const { log, diagnostics } = await this.#options.openLog(path);
    for (const diagnostic of diagnostics) this.#options.note(diagnostic);
    return log;
  }

  /**
   * Gets ready for a prompt: a session whose store failed is read again.
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

  /** Goes on with another log; a continued one restores its model and level. */
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
   * The messages are read when someone asks for them: the state of a session, a switch or a fork do not
   * need them (rows "100 000 entries: spawn, switch_session, fork").
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

  /** An entry of its own, so that the system prompt and the user's words stay as they are. */
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

  /** As the environment: requests keep it, but the user's words stay as they are. */
  #noteOutput(timestamp: number, text: string): void {
    this.#readMessages();
    this.#log.append({ type: "custom", customType: OUTPUT_ENTRY, data: { text } });
    this.#addNote(timestamp, text);
  }

  #addNote(timestamp: number, text: string): void {
    const before = this.#notes.get(timestamp);
    this.#notes.set(timestamp, before === undefined ? text : `${before}\n\n${text}`);
  }

  /** Written with the next message: looking at a branch must not change its file. */
  #answerLeftCalls(): void {
    for (const message of resultsOfLeftCalls(this.#log)) {
      const { id } = this.#log.append({ type: "message", message });
      this.#options.agent.append(message);
      this.#results.entryIds.set(message, id);
    }
    this.#hasMoved = false;
  }

  /** The branch, not the last choice, decides which model continues it. */
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

/** What a branch has does not change. */
function once<Value>(compute: () => Value): () => Value {
  let known: { readonly value: Value } | undefined;
  return () => {
    known ??= { value: compute() };
    return known.value;
  };
}

/** Messages of extensions have an entry type of their own. */
function entryOf(message: AgentMessage, promptId: string | undefined): NewEntry {
  if (message.role !== "custom") {
    return { type: "message", message, ...(promptId === undefined ? {} : { promptId }) };
  }
  const { customType, content, display, details } = message;
  const more = details === undefined ? {} : { details };
  return { type: "custom_message", customType, content, display, ...more };
}

/** A custom message is read back with the time of its entry, so that is the message's own. */
function timeOf({ role, timestamp }: AgentMessage): Date | undefined {
  const time = new Date(timestamp);
  return role === "custom" && !Number.isNaN(time.getTime()) ? time : undefined;
}

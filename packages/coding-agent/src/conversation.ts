import type { Agent } from "@tau-agent/agent";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import type { Diagnostic } from "./diagnostic.ts";
import { SessionError } from "./errors.ts";
import type { ModelSelection } from "./model-selection.ts";
import { isThinkingLevel } from "./models/thinking-level.ts";
import { noteModel } from "./note-model.ts";
import { resultsOfLeftCalls } from "./session/answer-open-calls.ts";
import { buildSessionContext, resumedModel } from "./session/session-context.ts";
import type { NewEntry, SessionLog } from "./session/session-log.ts";

/** What a {@link Conversation} is kept in step with. */
export interface ConversationOptions {
  readonly agent: Agent;
  readonly models: ModelSelection;
  /** Opens a session file that is there. */
  readonly openLog: (
    path: string,
  ) => Promise<{ log: SessionLog; diagnostics: readonly Diagnostic[] }>;
  /** Takes tools and texts to the folder of a session that goes on. */
  readonly enterFolder: (log: SessionLog) => readonly Diagnostic[];
  /** Hears what was found wrong on the way. */
  readonly note: (diagnostic: Diagnostic) => void;
}

/** The session log in use and the agent's view of it, which always say the same. */
export class Conversation {
  readonly #options: ConversationOptions;
  #log: SessionLog;
  /** Nothing was said since the leaf moved. */
  #hasMoved = false;

  constructor(log: SessionLog, options: ConversationOptions) {
    this.#options = options;
    this.#log = log;
    this.rebuild();
  }

  /** The session's entries and its file. */
  get log(): SessionLog {
    return this.#log;
  }

  /** Adds a message outside of a run: written first, then part of the conversation. */
  add(message: AgentMessage): void {
    this.record(message);
    this.#options.agent.append(message);
  }

  /** Writes a message that becomes part of the conversation. */
  record(message: AgentMessage): void {
    if (this.#hasMoved) this.#answerLeftCalls();
    this.#log.append(entryOf(message));
  }

  /**
   * Names the session and returns the name as it is kept.
   *
   * @throws {SessionError} `session_name_empty`
   */
  rename(name: string): string {
    const clean = name.replace(/\s*[\r\n]+\s*/g, " ").trim();
    if (clean === "") throw new SessionError("session_name_empty");
    this.#log.append({ type: "session_info", name: clean });
    return clean;
  }

  /** Takes the messages from the log again, after its leaf has moved. */
  rebuild(): void {
    const { messages } = buildSessionContext(this.#log.tree.branch());
    this.#options.agent.messages = messages;
    this.#hasMoved = true;
  }

  /** Only who goes on from a place is to find it changed, not who looks at it. */
  #answerLeftCalls(): void {
    for (const message of resultsOfLeftCalls(this.#log)) {
      this.#log.append({ type: "message", message });
      this.#options.agent.append(message);
    }
    this.#hasMoved = false;
  }

  /** Opens a session to go on with; the one in use stays in use. */
  async open(path: string): Promise<SessionLog> {
    const { log, diagnostics } = await this.#options.openLog(path);
    for (const diagnostic of diagnostics) this.#options.note(diagnostic);
    return log;
  }

  /** Goes on with another log; a continued one brings its model and level along. */
  async replace(log: SessionLog, isContinued: boolean): Promise<void> {
    const { models } = this.#options;
    this.#log.close();
    this.#log = log;
    this.rebuild();
    if (isContinued) {
      for (const diagnostic of this.#options.enterFolder(log)) this.#options.note(diagnostic);
      await this.#restoreModel();
    }
    noteModel(log, models.model, models.thinkingLevel);
  }

  /** The branch, not the last choice, says which model goes on with it. */
  async #restoreModel(): Promise<void> {
    const { models, note } = this.#options;
    const { model, thinkingLevel } = resumedModel(this.#log.tree.ancestors());
    const { registry } = models;
    const found = model && (await registry.find(model.provider, model.modelId));
    const isUsable = found !== undefined && (await registry.isAvailable(found));
    if (model !== undefined && !isUsable) {
      const message = `The session's model ${model.provider}/${model.modelId} is not available; continuing with ${models.model?.id ?? "none"}`;
      note({ severity: "warning", message });
    }
    const isLevel = thinkingLevel !== undefined && isThinkingLevel(thinkingLevel);
    models.restore(isUsable ? found : models.model, isLevel ? thinkingLevel : models.thinkingLevel);
  }
}

/** Messages of extensions have a kind of entry of their own. */
function entryOf(message: AgentMessage): NewEntry {
  if (message.role !== "custom") return { type: "message", message };
  const { customType, content, display, details } = message;
  const more = details === undefined ? {} : { details };
  return { type: "custom_message", customType, content, display, ...more };
}

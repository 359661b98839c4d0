import type { SessionEntry, TodoItem, TodoPhase } from "@tau-agent/rpc-protocol";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import {
  type Conversation,
  isOpen,
  phasesOf,
  readPhases,
  type SessionLog,
  TODO_EDIT_TYPE,
  todosOf,
  userMessageOf,
} from "@tau-agent/sessions/log";
import { todoLines } from "./todo-text.ts";

export interface TodoSession {
  readonly conversation: Pick<Conversation, "log" | "append">;
  /** Delivers a message to the model: with its next turn during a run, otherwise at once. */
  tell(message: AgentMessage): void | Promise<void>;
}

interface KnownTodos {
  readonly log: SessionLog;
  readonly leafId: string | null;
  readonly items: readonly TodoItem[];
}

/**
 * The todo list of a session: the last one on the current branch. It is stored only in the entries,
 * so resumed sessions and forks have it.
 */
export class SessionTodos {
  readonly #session: TodoSession;
  #known: KnownTodos | undefined;

  constructor(session: TodoSession) {
    this.#session = session;
  }

  /** The items in order; empty for a session without a list. */
  get items(): readonly TodoItem[] {
    const { log } = this.#session.conversation;
    const { leafId } = log.tree;
    const known = this.#known?.log === log ? this.#known : undefined;
    if (known?.leafId === leafId) return known.items;
    const items = find(log, known);
    this.#known = { log, leafId, items };
    return items;
  }

  /** The unfinished items. */
  get open(): readonly TodoItem[] {
    return this.items.filter(isOpen);
  }

  /** The items under their headings. */
  get phases(): TodoPhase[] {
    return phasesOf(this.items);
  }

  /**
   * Replaces the list for a client; the model is notified at its next turn.
   *
   * @throws {SessionError} `session_write_failed`; the list is then unchanged.
   */
  async set(items: readonly TodoItem[]): Promise<void> {
    const { conversation } = this.#session;
    const todos = [...items];
    const data = { todos, phases: phasesOf(todos) };
    conversation.append({ type: "custom", customType: TODO_EDIT_TYPE, data });
    await this.#session.tell(noticeOf(todos));
  }

  /** Replaces the list with one in the shape of other pi-compatible hosts; see {@link set}. */
  setPhases(phases: readonly { name: string; tasks: readonly object[] }[]): Promise<void> {
    return this.set(readPhases(phases) ?? []);
  }
}

/** Searches from the leaf back to the latest entry that sets a list, or to a known state. */
function find({ tree }: SessionLog, known: KnownTodos | undefined): readonly TodoItem[] {
  let isPromptedSince = false;
  const knownAt = known?.leafId ? tree.indexOf(known.leafId) : undefined;
  for (const position of tree.positions()) {
    const role = position === knownAt ? undefined : tree.roleAt(position);
    // Ordinary messages contain no list, so their entries are not parsed.
    isPromptedSince ||= role === "user";
    if (role !== undefined) continue;
    const entry = tree.at(position) as SessionEntry;
    const items = position === knownAt ? known?.items : todosOf(entry);
    // A list that was finished before the user's next message is dropped.
    if (items !== undefined) return isPromptedSince && !items.some(isOpen) ? [] : items;
    isPromptedSince ||= userMessageOf(entry) !== undefined;
  }
  return [];
}

function noticeOf(todos: readonly TodoItem[]): AgentMessage {
  const list = todos.length === 0 ? "It is empty now." : todoLines(todos);
  return {
    role: "custom",
    customType: "todo_edit",
    content: `<system-reminder>\nThe user has changed the todo list:\n${list}\n</system-reminder>`,
    display: false,
    timestamp: Date.now(),
  };
}

import type { RunOutcome } from "@tau-agent/agent";
import type { SessionEvent, TodoItem } from "@tau-agent/rpc-protocol";
import type { AgentMessage, AssistantMessage } from "@tau-agent/rpc-protocol/messages";
import type { SettingsStore } from "@tau-agent/system";
import type { SessionBudget } from "../subagents/budgets/session-budget.ts";
import type { SessionTodos } from "../todos/session-todos.ts";
import { todoLines } from "../todos/todo-text.ts";
import type { ToolSet } from "../tools/tool-set.ts";
import type { AgentQueues } from "./agent-queues.ts";

export interface TodoReminderOptions {
  readonly agent: AgentQueues;
  readonly budget: SessionBudget;
  readonly settings: SettingsStore;
  readonly todos: SessionTodos;
  readonly tools: ToolSet;
  readonly emit: (event: SessionEvent) => void | Promise<void>;
}

/** Asks an agent that stopped with open todos to go on. */
export class TodoReminder {
  readonly #options: TodoReminderOptions;
  #attempts = 0;
  /**
   * The fewest todos that were open when the agent was reminded since the user last said something.
   * Only fewer still are progress: what is added and done again would never end.
   */
  #fewestOpen = Number.POSITIVE_INFINITY;

  constructor(options: TodoReminderOptions) {
    this.#options = options;
  }

  /** After a run: a message of the user, or finished work, restarts the count. */
  noteRun({ messages }: RunOutcome): void {
    const isAsked = messages.some(({ role }) => role === "user");
    if (isAsked) this.#fewestOpen = Number.POSITIVE_INFINITY;
    if (isAsked || (this.#attempts > 0 && this.#options.todos.open.length < this.#fewestOpen)) {
      this.#attempts = 0;
    }
  }

  /** Whether this run is followed by a reminder. */
  isDue({ reply, aborted }: RunOutcome): boolean {
    const { agent, budget, settings, todos, tools } = this.#options;
    if (!settings.get("todoCompletion.enabled") || aborted || reply === undefined) return false;
    if (this.#attempts >= settings.get("todoCompletion.maxReminders")) return false;
    // Messages for the next turn are delivered with the reminder.
    const isQueued = agent.steering.size + agent.followUp.size > 0;
    if (!hasStopped(reply.message) || isQueued) return false;
    if (!tools.active.some(({ name }) => name === "todo_write")) return false;
    return todos.open.length > 0 && budget.snapshot.status !== "exceeded";
  }

  /** Announces a reminder and returns the message that brings it to the model. */
  async remind(): Promise<AgentMessage> {
    const { settings, todos } = this.#options;
    const open = [...todos.open];
    this.#attempts += 1;
    this.#fewestOpen = Math.min(this.#fewestOpen, open.length);
    const said = {
      todos: open,
      attempt: this.#attempts,
      maxAttempts: settings.get("todoCompletion.maxReminders"),
    };
    await this.#options.emit({ type: "todo_reminder", ...said });
    return {
      role: "custom",
      customType: "todo_reminder",
      content: reminderText(open),
      display: false,
      details: said,
      timestamp: Date.now(),
    };
  }
}

/** Whether the agent has nothing left to do, in its own opinion, and asks for nothing. */
function hasStopped({ stopReason, content }: AssistantMessage): boolean {
  if (stopReason === "error" || stopReason === "aborted") return false;
  if (content.some(({ type }) => type === "toolCall")) return false;
  const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
  return !/[?？][\s"'”’*_`)\]]*$/.test(text);
}

function reminderText(open: readonly TodoItem[]): string {
  return `<system-reminder>
You stopped, but these todos are open:
${todoLines(open)}
Go on with them. Use todo_write to mark what is done, and as abandoned what is not wanted any more. If you cannot go on without the user, say what you need.
</system-reminder>`;
}

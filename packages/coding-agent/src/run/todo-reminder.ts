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

/** Asks an agent that stopped with open todos to continue. */
export class TodoReminder {
  readonly #options: TodoReminderOptions;
  #attempts = 0;
  /**
   * The smallest number of todos that were open at a reminder since the user's last message. Only
   * fewer count as progress; otherwise adding and finishing items would never end.
   */
  #fewestOpen = Number.POSITIVE_INFINITY;

  constructor(options: TodoReminderOptions) {
    this.#options = options;
  }

  /** Notes the end of a run: a user message or finished work resets the count. */
  noteRun({ messages }: RunOutcome): void {
    const isAsked = messages.some(({ role }) => role === "user");
    if (isAsked) this.#fewestOpen = Number.POSITIVE_INFINITY;
    if (isAsked || (this.#attempts > 0 && this.#options.todos.open.length < this.#fewestOpen)) {
      this.#attempts = 0;
    }
  }

  /** Whether a reminder follows this run. */
  isDue({ reply, aborted }: RunOutcome): boolean {
    const { agent, budget, settings, todos, tools } = this.#options;
    if (!settings.get("todoCompletion.enabled") || aborted || reply === undefined) return false;
    if (this.#attempts >= settings.get("todoCompletion.maxReminders")) return false;
    // Messages for the next turn are not counted: they are delivered with the reminder.
    const isQueued = agent.steering.size + agent.followUp.size > 0;
    if (!hasStopped(reply.message) || isQueued) return false;
    if (!tools.active.some(({ name }) => name === "todo_write")) return false;
    return todos.open.length > 0 && budget.snapshot.status !== "exceeded";
  }

  /** Announces a reminder and returns the message for the model. */
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

/** Whether the agent considers itself done, and asks nothing. */
function hasStopped({ stopReason, content }: AssistantMessage): boolean {
  if (stopReason === "error" || stopReason === "aborted") return false;
  if (content.some(({ type }) => type === "toolCall")) return false;
  const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
  return !/[?\uff1f][\s"'\u201d\u2019*_`)\]]*$/.test(text);
}

function reminderText(open: readonly TodoItem[]): string {
  return `<system-reminder>
You stopped, but these todos are open:
${todoLines(open)}
Go on with them. Use todo_write to mark what is done, and as abandoned what is not wanted any more. If you cannot go on without the user, say what you need.
</system-reminder>`;
}

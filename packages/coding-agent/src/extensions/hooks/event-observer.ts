import type { KnownSessionEntry, SessionEvent } from "@tau-agent/rpc-protocol";
import type { AgentMessage, ThinkingLevel } from "@tau-agent/rpc-protocol/messages";
import type { SessionPort } from "../port/session-port.ts";
import { askBoundary, entryIds } from "./boundary.ts";
import { askMessageEnd } from "./prompt-events.ts";
import type { ExtensionRunner } from "./runner.ts";

export class EventObserver {
  readonly #runner: () => ExtensionRunner;
  readonly #port: SessionPort;
  /** Messages that were announced to extensions before they were recorded. */
  readonly #told = new WeakSet<AgentMessage>();
  #turnIndex = 0;
  #level: ThinkingLevel;
  #wantsNextTurn = false;

  constructor(runner: () => ExtensionRunner, port: SessionPort) {
    this.#runner = runner;
    this.#port = port;
    this.#level = port.thinkingLevel;
  }

  /** Lets extensions change a message before it is recorded. */
  async finish<Message extends AgentMessage>(message: Message): Promise<Message> {
    const runner = this.#runner();
    // A reply was announced when it began; other messages begin and end here.
    if (message.role !== "assistant") await runner.emit({ type: "message_start", message });
    const final = (await askMessageEnd(runner, message)) as Message;
    this.#told.add(final);
    return final;
  }

  /** Passes an event on; returns a promise while handlers run. */
  observe(event: SessionEvent): void | Promise<void> {
    const runner = this.#runner();
    switch (event.type) {
      case "message_start":
      case "message_end":
        if (this.#told.has(event.message)) return undefined;
        return runner.emit(event);
      case "agent_start":
        this.#turnIndex = 0;
        return runner.emit({ type: "agent_start" });
      case "turn_start":
        return runner.emit({
          type: "turn_start",
          turnIndex: this.#turnIndex,
          timestamp: Date.now(),
        });
      case "turn_end": {
        const turnIndex = this.#turnIndex++;
        return runner.has("turn_end") ? this.#endTurn(event, turnIndex) : undefined;
      }
      case "message_update":
      case "agent_end":
      case "agent_settled":
      case "todo_reminder":
      case "ttsr_triggered":
      case "tool_execution_start":
      case "tool_execution_update":
      case "tool_execution_end":
        return runner.has(event.type) ? runner.emit(event) : undefined;
      case "session_info_changed":
        return runner.emit({ type: "session_info_changed", name: event.name });
      case "thinking_level_changed":
        return this.#noteLevel(event.level);
      case "auto_compaction_end":
      case "compaction_end":
        return this.#noteCompaction(event);
      default:
        return undefined;
    }
  }

  /** Whether an extension wants another turn after the last one; may be read once per turn. */
  takeTurnWish(): boolean {
    const isWanted = this.#wantsNextTurn;
    this.#wantsNextTurn = false;
    return isWanted;
  }

  async #endTurn(
    { message, toolResults }: Extract<SessionEvent, { type: "turn_end" }>,
    turnIndex: number,
  ): Promise<void> {
    const stopReason = message.role === "assistant" ? message.stopReason : "stop";
    const isWhole = stopReason !== "aborted" && stopReason !== "error";
    const [messageEntryId = "", ...toolResultEntryIds] = entryIds(this.#port.log, [
      message,
      ...toolResults,
    ]);
    this.#wantsNextTurn = await askBoundary(this.#runner(), this.#port, {
      type: "turn_end",
      turnIndex,
      message,
      toolResults,
      messageEntryId,
      toolResultEntryIds,
      outcome: isWhole ? "completed" : stopReason,
    });
  }

  #noteLevel(level: ThinkingLevel): Promise<void> {
    const previousLevel = this.#level;
    this.#level = level;
    return this.#runner().emit({ type: "thinking_level_select", level, previousLevel });
  }

  #noteCompaction(
    event: Extract<SessionEvent, { type: "auto_compaction_end" | "compaction_end" }>,
  ): Promise<void> {
    const { reason = "threshold", result, aborted, willRetry, errorMessage } = event;
    const entries = this.#port.log.tree.entries as readonly KnownSessionEntry[];
    const entry = entries.findLast(({ type }) => type === "compaction");
    if (result !== null && entry?.type === "compaction") {
      const fromExtension = entry.fromHook ?? false;
      return this.#runner().emit({
        type: "session_compact",
        compactionEntry: entry,
        fromExtension,
        reason,
        willRetry,
      });
    }
    return this.#runner().emit({
      type: "session_compact_failed",
      reason,
      errorMessage,
      aborted,
      willRetry,
      fromExtension: false,
    });
  }
}

import type { BeforeToolCallResult, ResumedReply, ToolHooks } from "@tau-agent/agent";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import type { ToolCall, ToolResultMessage } from "@tau-agent/rpc-protocol/messages";
import { type Conversation, lastCalls, type SessionLog } from "@tau-agent/sessions/log";
import type { DurableCalls } from "../durability/durable-calls.ts";

type SurvivingConversation = Pick<Conversation, "log" | "add" | "resumeCalls">;

/** Makes a session's effects survive its host (decision 63). The code for this is loaded at the start. */
export class Survival {
  readonly #load: () => Promise<DurableCalls>;
  readonly #conversation: () => SurvivingConversation;
  readonly #loaded = Promise.withResolvers<DurableCalls>();
  #calls: DurableCalls | undefined;

  constructor(load: () => Promise<DurableCalls>, conversation: () => SurvivingConversation) {
    this.#load = load;
    this.#conversation = conversation;
    this.#loaded.promise.catch(() => {});
  }

  /**
   * Takes the session over from an earlier host.
   *
   * @throws {SessionError} `durability_unavailable`
   */
  async open(): Promise<void> {
    try {
      const calls = await this.#load();
      await calls.openLog(this.#conversation().log);
      this.#calls = calls;
      this.#loaded.resolve(calls);
    } catch (error) {
      this.#loaded.reject(error);
      throw error;
    }
  }

  /** To be called when the session continues with another log. */
  adoptLog(log: SessionLog): void {
    void this.#calls?.openLog(log).catch(() => undefined);
  }

  /** Skips the gate for calls that have already started: they never start again. */
  hooks(gate: ToolHooks): ToolHooks {
    return {
      beforeToolCall: async (call, tool, signal): Promise<BeforeToolCallResult | undefined> => {
        const calls = await this.#loaded.promise;
        return calls.hasStarted(call) ? undefined : gate.beforeToolCall?.(call, tool, signal);
      },
      afterToolCall: async (...result) => gate.afterToolCall?.(...result),
      isSuspended: () => gate.isSuspended?.() ?? false,
    };
  }

  async run(
    call: ToolCall,
    execute: () => Promise<ToolResult>,
    signal: AbortSignal,
  ): Promise<ToolResult> {
    return (await this.#loaded.promise).run(call, execute, signal);
  }

  /** To be called when a result is stored. */
  noteResult({ toolCallId }: ToolResultMessage): void {
    this.#calls?.noteResult(toolCallId);
  }

  /** The reply whose calls an earlier host left without results. */
  openReply(log: SessionLog): ResumedReply | undefined {
    const last = lastCalls(log);
    return last === undefined || last.open.length === 0
      ? undefined
      : { message: last.message, calls: last.open };
  }

  /** Ends the open calls of an earlier host as interrupted, because another prompt begins. */
  async closeCalls(): Promise<void> {
    const reply = this.openReply(this.#conversation().log);
    if (reply === undefined) return;
    const calls = await this.#loaded.promise;
    const conversation = this.#conversation();
    for (const call of reply.calls) {
      const { content, details, isError = true } = await calls.interrupt(call);
      conversation.resumeCalls();
      const { id: toolCallId, name: toolName } = call;
      const timestamp = Date.now();
      conversation.add({
        role: "toolResult",
        toolCallId,
        toolName,
        content,
        details,
        isError,
        timestamp,
      });
      await conversation.log.stored();
      calls.noteResult(toolCallId);
    }
  }

  /** Ends with an orderly shutdown of the host. */
  async close(): Promise<void> {
    await this.#calls?.close();
  }
}

import type { PromptStatus, SessionEvent } from "@tau-agent/rpc-protocol";
import type { AgentMessage, AssistantMessage } from "@tau-agent/rpc-protocol/messages";
import { RpcError } from "../base/errors.ts";
import type { Settle } from "../events/event-hub.ts";
import { type SettleSource, SettleWatch } from "./settle.ts";

/** The outcome of a prompt. */
export interface PromptResult {
  readonly status: PromptStatus;
  /** Every message completed since the prompt, including the prompt itself. */
  readonly messages: readonly AgentMessage[];
  /** The text of the last reply; empty if there was none. */
  readonly text: string;
}

/** Follows one prompt from before it is sent to its end. */
export class PromptRun {
  /** The id of its request. */
  requestId: string | undefined;
  readonly #settle: Settle<PromptResult>;
  readonly #fallback: SettleWatch | undefined;
  readonly #messages: AgentMessage[] = [];

  constructor(source: SettleSource, settle: Settle<PromptResult>) {
    this.#settle = settle;
    if (source.announcesSettled) return;
    this.#fallback = new SettleWatch(source, {
      resolve: () => this.#endByLastReply(),
      reject: settle.reject,
    });
  }

  onEvent(event: SessionEvent): void {
    if (event.type === "message_end") this.#messages.push(event.message);
    if (event.type === "prompt_result" && event.id === this.requestId) {
      this.#end(event.status, event.error);
    }
    this.#fallback?.onEvent(event);
  }

  /** With a host that does not report outcomes, the last reply tells. */
  #endByLastReply(): void {
    const reply = lastReply(this.#messages);
    if (reply?.stopReason === "error") this.#end("error", reply.errorMessage);
    else this.#end(reply?.stopReason === "aborted" ? "aborted" : "completed", undefined);
  }

  #end(status: PromptStatus, error: string | undefined): void {
    if (status === "error") {
      const details = { code: "prompt_failed", command: "prompt", requestId: this.requestId };
      this.#settle.reject(new RpcError(error ?? "The prompt failed", details));
      return;
    }
    const messages = this.#messages;
    this.#settle.resolve({ status, messages, text: textOf(lastReply(messages)) });
  }
}

function lastReply(messages: readonly AgentMessage[]): AssistantMessage | undefined {
  return messages.findLast((message) => message.role === "assistant");
}

function textOf(reply: AssistantMessage | undefined): string {
  // A faulty host may send anything.
  const blocks = Array.isArray(reply?.content) ? reply.content : [];
  return blocks.map((block) => (block.type === "text" ? block.text : "")).join("");
}

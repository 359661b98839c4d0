import type { PromptStatus, SessionEvent } from "@tau-agent/rpc-protocol";
import type { AgentMessage, PromptResult } from "@tau-agent/rpc-protocol/messages";
import { lastReplyParts, lastReplyText } from "@tau-agent/rpc-protocol/plain";
import { RpcError } from "../base/errors.ts";
import type { Settle } from "../events/event-hub.ts";
import { type SettleSource, SettleWatch } from "./settle.ts";

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
    const reply = lastReplyParts(this.#messages).at(-1);
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
    const text = lastReplyText(messages);
    this.#settle.resolve({ id: this.requestId, status, messages, text });
  }
}

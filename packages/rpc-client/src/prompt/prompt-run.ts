import type { ClientEvent, PromptStatus } from "@tau-agent/rpc-protocol";
import type { AgentMessage, PromptResult } from "@tau-agent/rpc-protocol/messages";
import { lastReplyParts, lastReplyText } from "@tau-agent/rpc-protocol/plain";
import { RpcError } from "../base/errors.ts";
import type { Settle } from "../events/event-hub.ts";
import { type SettleSource, SettleWatch } from "./settle.ts";

/** Follows one prompt from before it is sent to its end. */
export class PromptRun {
  requestId: string | undefined;
  /** The prompt's own id, if it was given one. */
  promptId: string | undefined;
  readonly #source: SettleSource;
  readonly #settle: Settle<PromptResult>;
  readonly #fallback: SettleWatch | undefined;
  readonly #messages: AgentMessage[] = [];

  constructor(source: SettleSource, settle: Settle<PromptResult>) {
    this.#source = source;
    this.#settle = settle;
    if (source.announcesSettled) return;
    this.#fallback = new SettleWatch(source, {
      resolve: () => this.#endByLastReply(),
      reject: settle.reject,
    });
  }

  onEvent(event: ClientEvent): void {
    if (event.type === "message_end") this.#messages.push(event.message);
    if (event.type === "prompt_result" && this.#isMeant(event)) this.#end(event);
    this.#fallback?.onEvent(event);
  }

  /** The host already had the prompt: unless it is still working on it, the result was sent before. */
  async onDuplicate(): Promise<void> {
    try {
      if (await this.#source.isIdle()) this.#end({ status: "handled" });
    } catch (error) {
      this.#settle.reject(error);
    }
  }

  #isMeant({ id, promptId }: PromptEnd): boolean {
    return id === this.requestId || (promptId !== undefined && promptId === this.promptId);
  }

  /** If the host does not report outcomes, the last reply decides. */
  #endByLastReply(): void {
    const reply = lastReplyParts(this.#messages).at(-1);
    if (reply?.stopReason === "error") this.#end({ status: "error", error: reply.errorMessage });
    else this.#end({ status: reply?.stopReason === "aborted" ? "aborted" : "completed" });
  }

  #end({ status, error, code, promptId, ...end }: PromptEnd): void {
    if (status === "error") {
      const details = { code: "prompt_failed", promptCode: code, command: "prompt" };
      const { requestId } = this;
      this.#settle.reject(new RpcError(error ?? "The prompt failed", { ...details, requestId }));
      return;
    }
    const messages = this.#messages;
    const text = end.text ?? lastReplyText(messages);
    const { output, outputStatus, outputAttempts, pausedBy } = end;
    this.#settle.resolve({
      id: this.requestId,
      ...(promptId === undefined ? {} : { promptId }),
      status,
      ...(code === undefined ? {} : { code }),
      ...(pausedBy === undefined ? {} : { pausedBy }),
      messages,
      text,
      ...(outputStatus === undefined ? {} : { outputStatus, outputAttempts }),
      ...(outputStatus === "valid" ? { output } : {}),
    });
  }
}

/** How a prompt ended, if its host reports it. */
type PromptEnd = Partial<
  Omit<Extract<ClientEvent, { type: "prompt_result" }>, "status" | "error">
> & {
  readonly status: PromptStatus;
  readonly error?: string | undefined;
};

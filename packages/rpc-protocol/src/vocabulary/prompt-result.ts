import type { ErrorCode, ModelErrorCode } from "./error.ts";
import type { AgentMessage, AssistantMessage } from "./message.ts";
import type { OutputStatus, PausedBy, PromptStatus } from "./session-event.ts";

/** How an accepted prompt ended: what `AgentSession.prompt` and `RpcClient.promptAndWait` return. */
export interface PromptResult<Output = unknown> {
  /** The id the prompt was sent with, if any. */
  readonly id: string | number | undefined;
  /** The id of the prompt, which its events carry; undefined from an older host. */
  readonly promptId?: string | undefined;
  readonly status: PromptStatus;
  /** The error message, when `status` is `error`; the client rejects with it instead. */
  readonly error?: string | undefined;
  /**
   * Why `status` is `error`, or `budget_exceeded` if a used-up budget stopped the run; undefined from
   * an older host, which sends none. A newer one may send others.
   */
  readonly code?: ErrorCode | ModelErrorCode | (string & {}) | undefined;
  /** What paused it, when `status` is `paused`. */
  readonly pausedBy?: PausedBy | undefined;
  /** The text of the last reply; with an output schema the last answer, as the model wrote it. */
  readonly text: string;
  /** The answer to a prompt with an output schema, if `outputStatus` is `valid`. */
  readonly output?: Output;
  /** Whether the answer fits its schema; `absent` if the run failed or was aborted. */
  readonly outputStatus?: OutputStatus | undefined;
  /** How many answers the model gave. */
  readonly outputAttempts?: number | undefined;
  /** Every message completed since the prompt, including the prompt itself. */
  readonly messages: readonly AgentMessage[];
}

/** The type of the custom message that asks for the rest of a reply cut by the output limit. */
export const CONTINUE_TYPE = "auto_continue";

/** The messages of the last reply, oldest first: more than one when it was cut and continued. */
export function lastReplyParts(messages: readonly AgentMessage[]): readonly AssistantMessage[] {
  const parts: AssistantMessage[] = [];
  let isContinuation = true;
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at];
    if (message?.role === "assistant") {
      if (!isContinuation) break;
      parts.unshift(message);
      isContinuation = false;
    } else if (message?.role === "custom" && message.customType === CONTINUE_TYPE) {
      isContinuation = true;
    } else if (message?.role === "user" && parts.length > 0) break;
  }
  return parts;
}

/** The text of the last reply; empty if there is none. */
export function lastReplyText(messages: readonly AgentMessage[]): string {
  // A faulty host may send anything as content.
  const blocks = lastReplyParts(messages).flatMap(({ content }) =>
    Array.isArray(content) ? content : [],
  );
  return contentText(blocks);
}

/** The texts of a message's content; what is not text is left out. */
export function contentText(
  content: string | readonly { readonly type: string; readonly text?: string }[],
  separator = "",
): string {
  if (typeof content === "string") return content;
  return content.flatMap(({ type, text = "" }) => (type === "text" ? [text] : [])).join(separator);
}

import type { ErrorCode, ModelErrorCode } from "./error.ts";
import type { AgentMessage, AssistantMessage } from "./message.ts";
import type { OutputStatus, PausedBy, PromptStatus } from "./session-event.ts";

/** How an accepted prompt ended: the return type of `AgentSession.prompt` and `RpcClient.promptAndWait`. */
export interface PromptResult<Output = unknown> {
  /** The id the prompt was sent with, if any. */
  readonly id: string | number | undefined;
  /** The id of the prompt, which is repeated in its events; undefined from an older host. */
  readonly promptId?: string | undefined;
  readonly status: PromptStatus;
  /** The error message if `status` is `error`; the client rejects with it instead. */
  readonly error?: string | undefined;
  /**
   * Why `status` is `error`, or `budget_exceeded` if an exhausted budget stopped the run. Undefined from an
   * older host; a newer one may send other values.
   */
  readonly code?: ErrorCode | ModelErrorCode | (string & {}) | undefined;
  /** What paused it if `status` is `paused`. */
  readonly pausedBy?: PausedBy | undefined;
  /** The text of the last reply; with an output schema, the last answer as the model wrote it. */
  readonly text: string;
  /** The answer to a prompt with an output schema, if `outputStatus` is `valid`. */
  readonly output?: Output;
  /** Whether the answer fits its schema; `absent` if the run failed or was aborted. */
  readonly outputStatus?: OutputStatus | undefined;
  /** The number of answers that the model gave. */
  readonly outputAttempts?: number | undefined;
  /** Every message completed since the prompt, including the prompt itself. */
  readonly messages: readonly AgentMessage[];
}

/** The type of the custom message that requests the rest of a reply truncated by the output limit. */
export const CONTINUE_TYPE = "auto_continue";

/** The messages of the last reply, oldest first: several if it was truncated and continued. */
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

/** The texts of a message's content; other blocks are skipped. */
export function contentText(
  content: string | readonly { readonly type: string; readonly text?: string }[],
  separator = "",
): string {
  if (typeof content === "string") return content;
  return content.flatMap(({ type, text = "" }) => (type === "text" ? [text] : [])).join(separator);
}

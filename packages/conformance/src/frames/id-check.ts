import { parseObject } from "@tau-agent/rpc-protocol/plain";
import { isDocumentedEvent } from "./document-events.ts";
import type { Frame } from "./frame-queue.ts";

/** Checks ids against the rule that all documents share: one response per command, and no id on events. */
export class IdCheck {
  readonly #unanswered = new Map<unknown, number>();

  sent(line: string): void {
    const { id } = parseObject(line) ?? {};
    if (id !== undefined) this.#unanswered.set(id, (this.#unanswered.get(id) ?? 0) + 1);
  }

  problem(dialect: string, frame: Frame): string | undefined {
    const { id, type, success } = frame;
    if (id === undefined) return undefined;
    if (type !== "response") {
      const isWrong = isDocumentedEvent(dialect, frame) && !hasIdOfItsOwn(String(type));
      return isWrong ? "frame.id is not expected" : undefined;
    }
    // A failure may still follow the acknowledgement of a prompt.
    const left = this.#unanswered.get(id);
    if (left === undefined || success !== true) return undefined;
    this.#unanswered.set(id, left - 1);
    return left === 0 ? "the command was answered before" : undefined;
  }
}

function hasIdOfItsOwn(type: string): boolean {
  return /^(extension_ui_request|bash_execution_update|prompt_result|subagent_.*)$/.test(type);
}

import type { RunOutcome } from "@tau-agent/agent";
import type { AgentMessage, AssistantMessage } from "@tau-agent/rpc-protocol/messages";
import { errorMessage } from "@tau-agent/rpc-protocol/plain";
import { names, sumOf, type Tokens, tokensOf, usageAttributes } from "./attributes.ts";
import { type Ending, errorTypeOf, type OpenSpan } from "./open-spans.ts";

const noTokens: Tokens = { input: 0, output: 0, cacheRead: 0, cacheCreation: 0 };

/** Serialises messages for a span; undefined if spans have no contents. */
export type WriteContents = ((value: readonly AgentMessage[]) => string) | undefined;

/** The span of a run: from the prompt to the last reply, including retries and continuations. */
export class RunSpan {
  readonly open: OpenSpan;
  #tokens = noTokens;

  constructor(open: OpenSpan) {
    this.open = open;
  }

  add(reply: AssistantMessage): void {
    this.#tokens = sumOf(this.#tokens, tokensOf(reply.usage));
  }

  /** Ends the span; without an outcome, the result of the run is unknown. */
  end(outcome: RunOutcome | undefined, write: WriteContents): void {
    this.open.write(() => usageAttributes(this.#tokens));
    const reply = outcome?.reply?.message;
    if (write !== undefined && reply !== undefined) {
      this.open.write(() => ({ [names.outputMessages]: write([reply]) }));
    }
    this.open.end(endingOf(outcome, write !== undefined));
  }
}

function endingOf(outcome: RunOutcome | undefined, hasContents: boolean): Ending {
  if (outcome === undefined) return { errorType: "_OTHER" };
  const { aborted, failure, reply } = outcome;
  if (aborted) return { isAborted: true };
  if (failure !== undefined) {
    const message = hasContents ? errorMessage(failure) : undefined;
    return { errorType: errorTypeOf(failure), message };
  }
  if (reply?.message.stopReason !== "error") return {};
  const message = hasContents ? reply.message.errorMessage : undefined;
  return { errorType: reply.error?.code ?? "_OTHER", message };
}

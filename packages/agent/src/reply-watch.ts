import type { AssistantMessageEvent } from "@tau-agent/rpc-protocol/events";
import type {
  AgentMessage,
  AssistantMessage,
  ToolResultMessage,
} from "@tau-agent/rpc-protocol/messages";

/** A turn whose reply was stopped before its end. */
export interface StoppedTurn {
  readonly reply: AssistantMessage;
  /** One for each call of the reply; none was run. */
  readonly toolResults: readonly ToolResultMessage[];
}

/** Looks at one reply while it streams, and may stop it there without ending the run. */
export interface ReplyWatch {
  /** Aborted when the reply is to stop: nothing more of it is asked for, passed on or run. */
  readonly signal: AbortSignal;
  /** Looks at a step that has been passed on; the next one waits for a promise. */
  look(event: AssistantMessageEvent): Promise<void> | undefined;
  /** The stopped reply as it is recorded; its stop reason need not be the stream's. */
  conclude(reply: AssistantMessage): AssistantMessage;
  /** After the stopped turn: what the next one begins with. May replace the agent's messages. */
  resume(turn: StoppedTurn): Promise<readonly AgentMessage[]>;
}

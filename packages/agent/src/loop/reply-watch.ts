import type { AssistantMessageEvent } from "@tau-agent/rpc-protocol/events";
import type {
  AgentMessage,
  AssistantMessage,
  ToolResultMessage,
} from "@tau-agent/rpc-protocol/messages";

/** A turn whose reply was stopped early. */
export interface StoppedTurn {
  readonly reply: AssistantMessage;
  /** One for each call of the reply; none of them ran. */
  readonly toolResults: readonly ToolResultMessage[];
}

/** Watches one reply while it streams, and can stop it without ending the run. */
export interface ReplyWatch {
  /** Aborted to stop the reply: nothing more of it is requested, emitted or run. */
  readonly signal: AbortSignal;
  /** Inspects a step that has been emitted; the next step waits for a returned promise. */
  look(event: AssistantMessageEvent): Promise<void> | undefined;
  /** The stopped reply as it will be recorded; its stop reason may differ from the stream's. */
  conclude(reply: AssistantMessage): AssistantMessage;
  /** Called after the stopped turn; returns the messages that begin the next one. May replace the agent's messages. */
  resume(turn: StoppedTurn): Promise<readonly AgentMessage[]>;
}

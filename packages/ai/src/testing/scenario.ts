import type { StopReason } from "@tau-agent/rpc-protocol/messages";
import type { TokenCounts } from "../provider.ts";
import type { Fault } from "./fault.ts";
import type { ScenarioRequest } from "./scenario-request.ts";
import type { TurnCondition } from "./turn-condition.ts";

/** How a block is split into deltas. */
export interface Pacing {
  /** Characters per delta. Default 24. */
  readonly chunkSize?: number | undefined;
  /** Pause before each delta, in ms. Default: none. */
  readonly delayMs?: number | undefined;
}

/** Text that the scripted model writes. */
export interface ScriptedText extends Pacing {
  readonly type: "text";
  readonly text: string;
}

/** Thinking of the scripted model. */
export interface ScriptedThinking extends Pacing {
  readonly type: "thinking";
  readonly thinking: string;
  /** The vendor's replay token. */
  readonly signature?: string | undefined;
}

/** A tool call of the scripted model. */
export interface ScriptedToolCall extends Pacing {
  readonly type: "toolCall";
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** By default, derived from the number of the request and the position in the turn. */
  readonly id?: string | undefined;
  /** Sent unchanged instead of `arguments`, to simulate malformed JSON. */
  readonly rawArguments?: string | undefined;
}

/** One block of a scripted reply. */
export type ScriptedBlock = ScriptedText | ScriptedThinking | ScriptedToolCall;

/** One scripted reply. */
export interface Turn extends Pacing {
  /** Blocks in order; a string is a text. */
  readonly content?: string | readonly (string | ScriptedBlock)[] | undefined;
  /** The turn is played only if this matches the request; without it, always. */
  readonly when?: TurnCondition | undefined;
  /** Whether the turn stays in the scenario after it was played. */
  readonly repeat?: boolean | undefined;
  /** By default, estimated at four characters per token. */
  readonly usage?: TokenCounts | undefined;
  /** Default `toolUse` with tool calls, else `stop`. */
  readonly stopReason?: Extract<StopReason, "stop" | "length" | "toolUse"> | undefined;
  /** The fault to simulate while this turn is played. */
  readonly fault?: Fault | undefined;
}

/** Computes a reply for a request; undefined if the scenario is over. */
export type ScenarioFunction = (
  request: ScenarioRequest,
) => Turn | string | undefined | Promise<Turn | string | undefined>;

/**
 * The replies of a scripted model: a list of turns, of which each request uses the first unused one whose
 * condition holds, or a function.
 */
export type Scenario = readonly (Turn | string)[] | ScenarioFunction;

/** A text block. */
export function text(value: string, pacing: Pacing = {}): ScriptedText {
  return { type: "text", text: value, ...pacing };
}

/** A thinking block. */
export function thinking(
  value: string,
  options: Pacing & { signature?: string } = {},
): ScriptedThinking {
  return { type: "thinking", thinking: value, ...options };
}

/** A tool call. */
export function toolCall(
  name: string,
  callArguments: Readonly<Record<string, unknown>> = {},
  options: Pacing & { id?: string; rawArguments?: string } = {},
): ScriptedToolCall {
  return { type: "toolCall", name, arguments: callArguments, ...options };
}

/** A turn of blocks (a string is a text), with its options. */
export function turn(
  content: string | ScriptedBlock | readonly (string | ScriptedBlock)[],
  options: Omit<Turn, "content"> = {},
): Turn {
  const isBlock = typeof content === "object" && "type" in content;
  return { content: isBlock ? [content] : content, ...options };
}

import type { StopReason } from "@tau-agent/rpc-protocol/messages";
import type { TokenCounts } from "../provider.ts";
import type { Fault } from "./fault.ts";
import type { ScenarioRequest } from "./scenario-request.ts";
import type { TurnCondition } from "./turn-condition.ts";

/** How a block is cut into deltas. */
export interface Pacing {
  /** Characters per delta. Default 24. */
  readonly chunkSize?: number | undefined;
  /** Pause before each delta, in ms. Default none. */
  readonly delayMs?: number | undefined;
}

/** Text the scripted model says. */
export interface ScriptedText extends Pacing {
  readonly type: "text";
  readonly text: string;
}

/** What the scripted model thinks. */
export interface ScriptedThinking extends Pacing {
  readonly type: "thinking";
  readonly thinking: string;
  /** The vendor's replay token. */
  readonly signature?: string | undefined;
}

/** A tool the scripted model calls. */
export interface ScriptedToolCall extends Pacing {
  readonly type: "toolCall";
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Default made from the number of the request and the place in the turn. */
  readonly id?: string | undefined;
  /** Sent instead of `arguments`, as it is: for malformed JSON. */
  readonly rawArguments?: string | undefined;
}

/** One block of a scripted reply. */
export type ScriptedBlock = ScriptedText | ScriptedThinking | ScriptedToolCall;

/** One scripted reply. */
export interface Turn extends Pacing {
  /** Blocks in order; a string is a text. */
  readonly content?: string | readonly (string | ScriptedBlock)[] | undefined;
  /** Only played when this holds for the request; without it, always. */
  readonly when?: TurnCondition | undefined;
  /** The turn stays in the scenario after it was played. */
  readonly repeat?: boolean | undefined;
  /** Default estimated at four characters per token. */
  readonly usage?: TokenCounts | undefined;
  /** Default `toolUse` with tool calls, else `stop`. */
  readonly stopReason?: Extract<StopReason, "stop" | "length" | "toolUse"> | undefined;
  /** What goes wrong while this turn is played. */
  readonly fault?: Fault | undefined;
}

/** Decides a reply from a request; nothing means the scenario is over. */
export type ScenarioFunction = (
  request: ScenarioRequest,
) => Turn | string | undefined | Promise<Turn | string | undefined>;

/**
 * What a scripted model says: a list of turns, of which each request takes the first unused one whose
 * condition holds, or a function that decides.
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

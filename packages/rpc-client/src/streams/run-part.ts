import type { ClientEvent, HostRequestFrame } from "@tau-agent/rpc-protocol";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import type { AssistantMessage } from "@tau-agent/rpc-protocol/messages";
import type { DeltaEvent } from "../events/delta-event.ts";

/** The input of streams: the events of a session in either form, and its host requests. */
export type StreamEvent = ClientEvent | DeltaEvent | { readonly type: string };

/** A host request that a stream can show; requests for keys are never shown. */
export type ShownRequest = Exclude<HostRequestFrame, { method: "credential" }>;

/** How a run ended; a paused run waits for the answers to its requests. */
export interface RunEnd {
  readonly status: "completed" | "aborted" | "error" | "paused" | "cut";
  readonly error?: string | undefined;
  readonly code?: string | undefined;
  readonly stopReason: AssistantMessage["stopReason"] | undefined;
  readonly output?: unknown;
  readonly replies: readonly Pick<AssistantMessage, "provider" | "model" | "usage">[];
  /** Requests without an answer. */
  readonly open: readonly ShownRequest[];
}

/** How much of a block was shown. */
export interface ShownBlock {
  readonly index: number;
  readonly block: BlockKind;
  readonly length: number;
  readonly isEnded: boolean;
}

/** How much of a run was shown, for another stream that continues it. */
export interface RunPlace {
  /** The number of the turn, from 1. */
  readonly turn: number;
  readonly isInTurn: boolean;
  /** How many replies were shown completely. */
  readonly replies: number;
  /** What was shown of the next reply. */
  readonly blocks: readonly ShownBlock[];
}

/** A run in well-formed parts: everything that begins also ends, and nothing precedes its beginning. */
export type RunPart =
  | { readonly kind: "run-start"; readonly runId: string }
  | { readonly kind: "turn-start"; readonly turn: number }
  | {
      readonly kind: "turn-end";
      readonly turn: number;
      /** The run's own replies with their usage. */
      readonly replies: RunEnd["replies"];
    }
  | { readonly kind: "block-start"; readonly block: BlockKind; readonly id: string }
  | {
      readonly kind: "block-delta";
      readonly block: BlockKind;
      readonly id: string;
      readonly delta: string;
    }
  | { readonly kind: "block-end"; readonly block: BlockKind; readonly id: string }
  | { readonly kind: "call-start"; readonly id: string; readonly name: string }
  | { readonly kind: "call-delta"; readonly id: string; readonly delta: string }
  | {
      readonly kind: "call-ready";
      readonly id: string;
      readonly name: string;
      readonly input: unknown;
    }
  | { readonly kind: "call-progress"; readonly id: string; readonly result: ToolResult }
  | {
      readonly kind: "call-end";
      readonly id: string;
      readonly name: string;
      readonly result: ToolResult;
      readonly isError: boolean;
      /** Whether the call was denied. */
      readonly isDenied: boolean;
    }
  | { readonly kind: "request"; readonly request: ShownRequest; readonly callId: string }
  | { readonly kind: "steering"; readonly text: string }
  | { readonly kind: "subagent-start"; readonly id: string; readonly agent: string }
  | { readonly kind: "subagent-end"; readonly id: string; readonly exitCode: number }
  | { readonly kind: "other"; readonly event: StreamEvent }
  | ({ readonly kind: "run-end"; readonly runId: string } & RunEnd);

export type BlockKind = "text" | "thinking";

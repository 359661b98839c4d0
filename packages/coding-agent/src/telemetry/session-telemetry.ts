import type { RunOutcome } from "@tau-agent/agent";
import type { StreamFunction } from "@tau-agent/ai";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import type { AgentMessage, ToolCall } from "@tau-agent/rpc-protocol/messages";

/** Whether a session makes spans, and what they contain; as the settings say by default. */
export interface TelemetryOptions {
  readonly enabled?: boolean | undefined;
  /** Whether spans contain messages, and the arguments and results of tools. */
  readonly contents?: boolean | undefined;
  /** Called where spans are made and no provider is registered yet, before the first span: may register one. */
  readonly register?: (() => Promise<void>) | undefined;
  /**
   * How long the end of the session waits until the provider has exported what it has, in ms; by default
   * not at all. For programs that end with their session.
   */
  readonly flushMs?: number | undefined;
}

/** The span that a prompt belongs to, as found when it was accepted. */
export interface PromptTrace {
  /** A `Context` of OpenTelemetry. */
  readonly parent: object;
}

/**
 * The spans of a session: one for each run of a prompt, in it one for each request to a model and each
 * call of a tool. A session whose telemetry is off has none of this.
 */
export interface SessionTelemetry {
  /** What a prompt belongs to: the span it names, else the active one, else the one the host was started in. */
  traceOf(traceparent: string | undefined): PromptTrace;
  /** A run begins; one that continues another, as a retry does, belongs to the same span. */
  beginRun(input: readonly AgentMessage[], trace: PromptTrace | undefined): void;
  /** A run has ended and nothing follows it; no outcome if it broke. */
  endRun(outcome: RunOutcome | undefined): void;
  traceRequests(stream: StreamFunction): StreamFunction;
  runTool(
    call: ToolCall,
    execute: () => Promise<ToolResult>,
    signal: AbortSignal,
  ): Promise<ToolResult>;
  /** The `traceparent` for what a running call starts. */
  traceparentOf(toolCallId: string): string | undefined;
  /** Ends what is still open, as aborted. */
  close(): Promise<void>;
}

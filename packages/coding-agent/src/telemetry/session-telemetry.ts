import type { RunOutcome } from "@tau-agent/agent";
import type { StreamFunction } from "@tau-agent/ai";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import type { AgentMessage, ToolCall } from "@tau-agent/rpc-protocol/messages";

/** Whether a session creates spans, and what they contain. Default: the settings. */
export interface TelemetryOptions {
  readonly enabled?: boolean | undefined;
  /** Whether spans contain messages, and the arguments and results of tools. */
  readonly contents?: boolean | undefined;
  /** Called before the first span if no provider is registered yet; may register one. */
  readonly register?: (() => Promise<void>) | undefined;
  /**
   * How long the end of the session waits until the provider has exported its spans, in ms; by default it does not
   * wait. For programs that end with their session.
   */
  readonly flushMs?: number | undefined;
}

/** The parent span of a prompt, determined when the prompt was accepted. */
export interface PromptTrace {
  /** A `Context` of OpenTelemetry. */
  readonly parent: object;
}

/**
 * The spans of a session: one for each run of a prompt, containing one for each model request and each tool call.
 * Undefined for a session whose telemetry is off.
 */
export interface SessionTelemetry {
  /** The parent of a prompt: the span it names, else the active one, else the one in which the host was started. */
  traceOf(traceparent: string | undefined): PromptTrace;
  /** Notes the start of a run; one that continues another, such as a retry, belongs to the same span. */
  beginRun(input: readonly AgentMessage[], trace: PromptTrace | undefined): void;
  /** Notes the end of a run that nothing follows; without an outcome if it broke. */
  endRun(outcome: RunOutcome | undefined): void;
  traceRequests(stream: StreamFunction): StreamFunction;
  runTool(
    call: ToolCall,
    execute: () => Promise<ToolResult>,
    signal: AbortSignal,
  ): Promise<ToolResult>;
  /** The `traceparent` for a process that a running call starts. */
  traceparentOf(toolCallId: string): string | undefined;
  /** Ends all open spans as aborted. */
  close(): Promise<void>;
}

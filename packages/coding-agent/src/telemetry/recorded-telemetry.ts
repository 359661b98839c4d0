import { type Attributes, type Context, trace } from "@opentelemetry/api";
import type { RunOutcome } from "@tau-agent/agent";
import type { StreamFunction, StreamResult } from "@tau-agent/ai";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import type { AgentMessage, ToolCall } from "@tau-agent/rpc-protocol/messages";
import { errorMessage } from "@tau-agent/rpc-protocol/plain";
import { attempt } from "./attempt.ts";
import { names, replyAttributes, requestAttributes } from "./attributes.ts";
import { messagesText, resultText } from "./contents.ts";
import {
  activeContext,
  type Ending,
  errorTypeOf,
  type OpenSpan,
  SpanKind,
  startSpan,
} from "./open-spans.ts";
import { RunSpan } from "./run-span.ts";
import type { PromptTrace, SessionTelemetry } from "./session-telemetry.ts";
import { readTraceParent, traceParentOf } from "./trace-parent.ts";
import { TracedStream } from "./traced-stream.ts";

export { flushProvider, hasProvider } from "./provider.ts";

export interface RecordedTelemetryOptions {
  readonly agentName: string;
  readonly sessionId: () => string;
  /** The `traceparent` with which the host was started. */
  readonly inherited: string | undefined;
  readonly hasContents: boolean;
  readonly maskKeys: <Value>(value: Value) => Value;
  /** Waits until the provider has exported its spans, if that is wanted. */
  readonly flush: () => Promise<void>;
}

/** Creates spans with the provider that the program has registered; without one, nothing is recorded. */
export class RecordedTelemetry implements SessionTelemetry {
  readonly #options: RecordedTelemetryOptions;
  readonly #calls = new Map<string, OpenSpan>();
  #run: RunSpan | undefined;

  constructor(options: RecordedTelemetryOptions) {
    this.#options = options;
  }

  traceOf(traceparent: string | undefined): PromptTrace {
    const active = activeContext();
    return { parent: attempt(() => this.#parentOf(active, traceparent)) ?? active };
  }

  #parentOf(active: Context, traceparent: string | undefined): Context {
    const named = readTraceParent(traceparent);
    if (named !== undefined) return trace.setSpanContext(active, named);
    if (trace.getSpanContext(active) !== undefined) return active;
    const inherited = readTraceParent(this.#options.inherited);
    return inherited === undefined ? active : trace.setSpanContext(active, inherited);
  }

  beginRun(input: readonly AgentMessage[], given: PromptTrace | undefined): void {
    if (this.#run !== undefined) return;
    const { parent } = given ?? this.traceOf(undefined);
    const open = startSpan(`invoke_agent ${this.#options.agentName}`, {
      // Created by `traceOf`; other files do not know the library's type.
      parent: parent as Context,
      kind: SpanKind.INTERNAL,
      attributes: this.#common("invoke_agent"),
    });
    if (this.#hasContents(open)) {
      open.write(() => ({ [names.inputMessages]: this.#messages(input) }));
    }
    this.#run = new RunSpan(open);
  }

  endRun(outcome: RunOutcome | undefined): void {
    const run = this.#run;
    this.#run = undefined;
    const hasContents = run !== undefined && this.#hasContents(run.open);
    run?.end(outcome, hasContents ? (messages) => this.#messages(messages) : undefined);
  }

  traceRequests(stream: StreamFunction): StreamFunction {
    return (model, input, options) => {
      const open = startSpan(`chat ${model.id}`, {
        parent: this.#parent,
        kind: SpanKind.CLIENT,
        attributes: { ...this.#common("chat"), ...requestAttributes(model, options) },
      });
      if (this.#hasContents(open) && options.renewsCache !== true) {
        open.write(() => ({ [names.inputMessages]: this.#messages(input.messages) }));
      }
      const end = (result: StreamResult | undefined): void => this.#endChat(open, result);
      const traced = open.within(() => stream(model, input, options));
      return new TracedStream(traced, open, end);
    };
  }

  async runTool(
    { id, name, arguments: args }: ToolCall,
    execute: () => Promise<ToolResult>,
    signal: AbortSignal,
  ): Promise<ToolResult> {
    const open = startSpan(`execute_tool ${name}`, {
      parent: this.#parent,
      kind: SpanKind.INTERNAL,
      attributes: {
        ...this.#common("execute_tool"),
        [names.tool]: name,
        [names.toolCall]: id,
        [names.toolType]: "function",
      },
    });
    const hasContents = this.#hasContents(open);
    if (hasContents) {
      open.write(() => ({
        [names.toolArguments]: JSON.stringify(this.#options.maskKeys(args)),
      }));
    }
    this.#calls.set(id, open);
    const end = (ending: Ending): void => {
      this.#calls.delete(id);
      open.end({ ...ending, isAborted: ending.errorType !== undefined && signal.aborted });
    };
    try {
      const result = await open.within(execute);
      if (hasContents) {
        open.write(() => ({
          [names.toolResult]: this.#options.maskKeys(resultText(result)),
        }));
      }
      end(result.isError ? { errorType: "tool_error" } : {});
      return result;
    } catch (error) {
      const type = errorTypeOf(error);
      const message = hasContents ? this.#options.maskKeys(errorMessage(error)) : undefined;
      if (message !== undefined) open.write(() => ({ [names.toolResult]: message }));
      end({ errorType: type === "ToolError" ? "tool_error" : type, message });
      throw error;
    }
  }

  traceparentOf(toolCallId: string): string | undefined {
    const open = this.#calls.get(toolCallId);
    return open && traceParentOf(open.spanContext);
  }

  async close(): Promise<void> {
    for (const open of this.#calls.values()) open.end({ isAborted: true });
    this.#calls.clear();
    this.endRun({ messages: [], reply: undefined, aborted: true });
    await this.#options.flush();
  }

  /** The parent of requests and calls; a request for a summary may come outside of a run. */
  get #parent(): Context {
    return this.#run?.open.context ?? activeContext();
  }

  #common(operation: string): Attributes {
    return {
      [names.operation]: operation,
      [names.conversation]: this.#options.sessionId(),
      [names.agent]: this.#options.agentName,
    };
  }

  #endChat(open: OpenSpan, result: StreamResult | undefined): void {
    if (result === undefined) {
      open.end({ isAborted: true });
      return;
    }
    const { message, error } = result;
    const { stopReason, errorMessage: text } = message;
    this.#run?.add(message);
    open.write(() => replyAttributes(message));
    const hasContents = this.#hasContents(open);
    if (hasContents) {
      open.write(() => ({ [names.outputMessages]: this.#messages([message]) }));
    }
    const hasFailed = stopReason === "error";
    open.end({
      isAborted: stopReason === "aborted",
      errorType: hasFailed ? (error?.code ?? "_OTHER") : undefined,
      message: hasContents && hasFailed ? this.#options.maskKeys(text) : undefined,
    });
  }

  #hasContents({ isRecording }: OpenSpan): boolean {
    return this.#options.hasContents && isRecording;
  }

  #messages(messages: readonly AgentMessage[]): string {
    return messagesText(this.#options.maskKeys(messages));
  }
}

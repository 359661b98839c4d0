import { contentText } from "@tau-agent/rpc-protocol/plain";
import { encodeAll, encoderOf, type RunEncoder } from "./run-encoder.ts";
import type { RunPart, ShownRequest, StreamEvent } from "./run-part.ts";

/** An event of AG-UI 1.0. */
export type AgUiEvent = { readonly type: AgUiEventType } & Readonly<Record<string, unknown>>;

type AgUiEventType =
  | "RUN_STARTED"
  | "RUN_FINISHED"
  | "RUN_ERROR"
  | "STEP_STARTED"
  | "STEP_FINISHED"
  | "TEXT_MESSAGE_START"
  | "TEXT_MESSAGE_CONTENT"
  | "TEXT_MESSAGE_END"
  | "REASONING_START"
  | "REASONING_MESSAGE_START"
  | "REASONING_MESSAGE_CONTENT"
  | "REASONING_MESSAGE_END"
  | "REASONING_END"
  | "TOOL_CALL_START"
  | "TOOL_CALL_ARGS"
  | "TOOL_CALL_END"
  | "TOOL_CALL_RESULT"
  | "SUBAGENT_STARTED"
  | "SUBAGENT_FINISHED"
  | "SUBAGENT_ERROR"
  | "CUSTOM";

/** The ids chosen by the client of a stream; by default, the session's own. */
export interface AgUiNames {
  readonly threadId?: string | undefined;
  readonly runId?: string | undefined;
}

type Of<Kind extends RunPart["kind"]> = Extract<RunPart, { kind: Kind }>;

/** Converts the events of a session to AG-UI events, one at a time. The ids are read for each run. */
export function agUiEncoder(names: AgUiNames = {}): RunEncoder<AgUiEvent> {
  const named = (runId: string) => ({
    threadId: names.threadId ?? "tau",
    runId: names.runId ?? runId,
  });
  const steps: number[] = [];
  // In AG-UI, a subagent cannot outlive its run; a subagent of a paused run is started again in the next run.
  const active = new Map<string, Of<"subagent-start">>();
  return encoderOf((part): AgUiEvent[] => {
    switch (part.kind) {
      case "run-start":
        return [
          { type: "RUN_STARTED", ...named(part.runId) },
          ...[...active.values()].flatMap(eventsOf),
        ];
      case "turn-start":
        steps.push(part.turn);
        return [{ type: "STEP_STARTED", stepName: `turn ${part.turn}` }];
      case "turn-end":
        return steps.splice(0).map((turn) => ({
          type: "STEP_FINISHED",
          stepName: `turn ${turn}`,
        }));
      case "run-end":
        return [
          ...[...active.keys()].map((id) => suspended(id, part.open)),
          ...runEnd(part, named(part.runId)),
        ];
      case "subagent-start":
        active.set(part.id, part);
        return eventsOf(part);
      case "subagent-end":
        active.delete(part.id);
        return eventsOf(part);
      default:
        return eventsOf(part);
    }
  });
}

/**
 * The AG-UI 1.0 events for the events of a session, live or replayed. Events without a counterpart become
 * `CUSTOM` events named `tau.` plus their type.
 */
export function toAgUi(
  events: AsyncIterable<StreamEvent>,
  names: AgUiNames = {},
): AsyncGenerator<AgUiEvent, void> {
  return encodeAll(events, agUiEncoder(names));
}

function eventsOf(
  part: Exclude<RunPart, Of<"run-start" | "turn-start" | "turn-end" | "run-end">>,
): AgUiEvent[] {
  switch (part.kind) {
    case "block-start":
    case "block-delta":
    case "block-end":
      return part.block === "text" ? [textEvent(part)] : thinkingEvents(part);
    case "call-start":
      return [{ type: "TOOL_CALL_START", toolCallId: part.id, toolCallName: part.name }];
    case "call-delta":
      return [{ type: "TOOL_CALL_ARGS", toolCallId: part.id, delta: part.delta }];
    case "call-ready":
      return [{ type: "TOOL_CALL_END", toolCallId: part.id }];
    case "call-progress":
      return [custom("tool_progress", { toolCallId: part.id, result: part.result })];
    case "call-end": {
      const { id: toolCallId, result, isError } = part;
      return [
        {
          type: "TOOL_CALL_RESULT",
          messageId: `${toolCallId}-result`,
          toolCallId,
          content: contentText(result.content),
          role: "tool",
          ...(isError && { metadata: { tau: { isError } } }),
        },
      ];
    }
    case "request": {
      const { id, method, params } = part.request;
      return [custom("host_request", { id, method, params })];
    }
    case "steering":
      return [custom("steering", { text: part.text })];
    case "subagent-start":
      return [{ type: "SUBAGENT_STARTED", subagentRunId: part.id, name: part.agent }];
    case "subagent-end":
      return [subagentEnd(part)];
    case "other":
      return [custom(part.event.type, part.event)];
  }
}

function textEvent({ kind, id: messageId, ...rest }: Of<`block-${string}` & RunPart["kind"]>) {
  if (kind === "block-start") {
    return { type: "TEXT_MESSAGE_START", messageId, role: "assistant" } as const;
  }
  if (kind === "block-end") return { type: "TEXT_MESSAGE_END", messageId } as const;
  const { delta } = rest as { delta: string };
  return { type: "TEXT_MESSAGE_CONTENT", messageId, delta } as const;
}

function thinkingEvents(part: Of<`block-${string}` & RunPart["kind"]>): AgUiEvent[] {
  const { kind, id: messageId } = part;
  if (kind === "block-start") {
    return [
      { type: "REASONING_START", messageId },
      { type: "REASONING_MESSAGE_START", messageId, role: "reasoning" },
    ];
  }
  if (kind === "block-end") {
    return [
      { type: "REASONING_MESSAGE_END", messageId },
      { type: "REASONING_END", messageId },
    ];
  }
  return [{ type: "REASONING_MESSAGE_CONTENT", messageId, delta: part.delta }];
}

function subagentEnd({ id: subagentRunId, exitCode }: Of<"subagent-end">): AgUiEvent {
  if (exitCode === 0) return { type: "SUBAGENT_FINISHED", subagentRunId };
  const message = `The subagent ended with exit code ${exitCode}`;
  return { type: "SUBAGENT_ERROR", subagentRunId, message };
}

function suspended(subagentRunId: string, open: readonly ShownRequest[]): AgUiEvent {
  const interruptIds = open.filter(({ agentId }) => agentId === subagentRunId).map(({ id }) => id);
  return { type: "SUBAGENT_FINISHED", subagentRunId, outcome: { type: "suspended", interruptIds } };
}

function custom(name: string, value: unknown): AgUiEvent {
  return { type: "CUSTOM", name: `tau.${name}`, value };
}

function runEnd(
  { status, error, code, output, replies, open }: Of<"run-end">,
  names: { readonly threadId: string; readonly runId: string },
): AgUiEvent[] {
  const usage = replies.map(({ provider, model, usage: used }) => ({
    provider,
    model,
    inputTokens: used.input,
    outputTokens: used.output,
    cachedInputTokens: used.cacheRead,
    cacheWriteInputTokens: used.cacheWrite,
  }));
  if (status === "error") {
    const message = error ?? "The run failed";
    return [{ type: "RUN_ERROR", message, ...(code && { code }), usage }];
  }
  const outcome =
    status === "paused"
      ? { type: "interrupt", interrupts: open.map(interruptOf) }
      : { type: status === "completed" ? "success" : "cancelled" };
  return [
    {
      type: "RUN_FINISHED",
      ...names,
      outcome,
      ...(output !== undefined && { result: output }),
      usage,
    },
  ];
}

function interruptOf(request: ShownRequest) {
  const { id, method, params, toolCallId, deadlineAt } = request;
  const { title, message } = params as { title?: string; message?: string };
  return {
    id,
    reason: method,
    message: title ?? message ?? method,
    ...(toolCallId !== undefined && request.agentId === undefined && { toolCallId }),
    ...(deadlineAt !== undefined && { expiresAt: new Date(deadlineAt).toISOString() }),
    metadata: { tau: { method, params } },
  };
}

import { contentText } from "@tau-agent/rpc-protocol/plain";
import { encodeAll, encoderOf, type RunEncoder } from "./run-encoder.ts";
import type { RunPart, StreamEvent } from "./run-part.ts";

/** A chunk of the UI message stream of AI SDK 7. */
export type UiMessageChunk =
  | { type: "start"; messageId: string }
  | { type: "start-step" }
  | { type: "finish-step" }
  | { type: "text-start" | "text-end" | "reasoning-start" | "reasoning-end"; id: string }
  | { type: "text-delta" | "reasoning-delta"; id: string; delta: string }
  | {
      type: "tool-input-start";
      toolCallId: string;
      toolName: string;
      dynamic: true;
      providerExecuted: true;
    }
  | { type: "tool-input-delta"; toolCallId: string; inputTextDelta: string }
  | {
      type: "tool-input-available";
      toolCallId: string;
      toolName: string;
      input: unknown;
      dynamic: true;
      providerExecuted: true;
    }
  | { type: "tool-approval-request"; approvalId: string; toolCallId: string; reason?: string }
  | {
      type: "tool-output-available";
      toolCallId: string;
      output: unknown;
      preliminary?: true;
      dynamic: true;
      providerExecuted: true;
    }
  | {
      type: "tool-output-error";
      toolCallId: string;
      errorText: string;
      dynamic: true;
      providerExecuted: true;
    }
  | { type: "tool-output-denied"; toolCallId: string }
  | { type: `data-${string}`; id?: string; data: unknown; transient?: true }
  | { type: "error"; errorText: string }
  | { type: "abort"; reason?: string }
  | {
      type: "finish";
      finishReason: "stop" | "length" | "tool-calls" | "error" | "interrupted" | "other";
      messageMetadata: { costUsd: number; inputTokens: number; outputTokens: number };
    };

/** The host runs the tools, and their names are not known in advance. */
const ran = { dynamic: true, providerExecuted: true } as const;
const blockNames = { text: "text", thinking: "reasoning" } as const;

/** Converts the events of a session to chunks, one at a time. */
export function uiMessageEncoder(): RunEncoder<UiMessageChunk> {
  return encoderOf(chunksOf);
}

/**
 * The UI message stream of AI SDK 7 for the events of a session, live or replayed: one message per run.
 * Events without a counterpart become transient `data-tau-event` parts.
 */
export function toUiMessageStream(
  events: AsyncIterable<StreamEvent>,
): AsyncGenerator<UiMessageChunk, void> {
  return encodeAll(events, uiMessageEncoder());
}

function chunksOf(part: RunPart): UiMessageChunk[] {
  switch (part.kind) {
    case "run-start":
      return [{ type: "start", messageId: part.runId }];
    case "turn-start":
      return [{ type: "start-step" }];
    case "turn-end":
      return [{ type: "finish-step" }];
    case "block-start":
      return [{ type: `${blockNames[part.block]}-start`, id: part.id }];
    case "block-delta":
      return [{ type: `${blockNames[part.block]}-delta`, id: part.id, delta: part.delta }];
    case "block-end":
      return [{ type: `${blockNames[part.block]}-end`, id: part.id }];
    case "call-start":
      return [{ type: "tool-input-start", toolCallId: part.id, toolName: part.name, ...ran }];
    case "call-delta":
      return [{ type: "tool-input-delta", toolCallId: part.id, inputTextDelta: part.delta }];
    case "call-ready": {
      const { id: toolCallId, name: toolName, input } = part;
      return [{ type: "tool-input-available", toolCallId, toolName, input, ...ran }];
    }
    case "call-progress": {
      const { id: toolCallId, result: output } = part;
      return [{ type: "tool-output-available", toolCallId, output, preliminary: true, ...ran }];
    }
    case "call-end":
      return [callEnd(part)];
    case "request":
      return [requestChunk(part)];
    case "steering":
      return [{ type: "data-tau-steering", data: { text: part.text } }];
    case "subagent-start":
    case "subagent-end": {
      const { kind, id, ...rest } = part;
      const data = { ...rest, status: kind === "subagent-start" ? "running" : "ended" };
      return [{ type: "data-tau-subagent", id, data }];
    }
    case "other":
      return [{ type: "data-tau-event", data: part.event, transient: true }];
    case "run-end":
      return runEnd(part);
  }
}

function callEnd({
  id: toolCallId,
  result,
  isError,
  isDenied,
}: Extract<RunPart, { kind: "call-end" }>): UiMessageChunk {
  if (isDenied) return { type: "tool-output-denied", toolCallId };
  if (!isError) return { type: "tool-output-available", toolCallId, output: result, ...ran };
  return { type: "tool-output-error", toolCallId, errorText: contentText(result.content), ...ran };
}

/** An approval is part of its call; all other requests are data parts, and so are their answers. */
function requestChunk({ request, callId }: Extract<RunPart, { kind: "request" }>): UiMessageChunk {
  const { id, method, params } = request;
  if (method === "tool_approval") {
    const { reason } = params;
    return { type: "tool-approval-request", approvalId: id, toolCallId: callId, reason };
  }
  return { type: "data-tau-request", id, data: { id, method, params } };
}

function runEnd(part: Extract<RunPart, { kind: "run-end" }>): UiMessageChunk[] {
  const { status, error, stopReason, replies, output } = part;
  const messageMetadata = { costUsd: 0, inputTokens: 0, outputTokens: 0 };
  for (const { usage } of replies) {
    messageMetadata.costUsd += usage.cost.total;
    messageMetadata.inputTokens += usage.input + usage.cacheRead + usage.cacheWrite;
    messageMetadata.outputTokens += usage.output;
  }
  const finish = (
    finishReason: Extract<UiMessageChunk, { type: "finish" }>["finishReason"],
  ): UiMessageChunk => ({ type: "finish", finishReason, messageMetadata });
  const data: UiMessageChunk[] =
    output === undefined ? [] : [{ type: "data-tau-output", data: output }];
  if (status === "paused") return [finish("tool-calls")];
  if (status === "cut") return [finish("other")];
  if (status === "aborted") return [{ type: "abort", reason: error ?? "aborted" }, finish("other")];
  if (status === "error") {
    return [{ type: "error", errorText: error ?? "The run failed" }, finish("error")];
  }
  return [...data, finish(stopReason === "length" ? "length" : "stop")];
}

import type { HarnessV1StreamPart } from "@ai-sdk/harness";
import type { RunPart } from "@tau-agent/rpc-client/streams";
import { shownName } from "./builtin-tools.ts";

type FinishPart = Extract<HarnessV1StreamPart, { type: "finish" }>;
type Usage = FinishPart["totalUsage"];
type Replies = Extract<RunPart, { kind: "run-end" }>["replies"];

const blockNames = { text: "text", thinking: "reasoning" } as const;

/** What determines the parts of a turn besides the run. */
export interface PartContext {
  /** Tools that the caller runs. */
  readonly callerTools: ReadonlySet<string>;
  /** Whether the reply is structured: its text is sent at the end, as the validated value. */
  readonly isStructured: boolean;
  /** Whether the current turn has called tools. */
  readonly hasCalls: boolean;
  /** Whether the arguments of the call were shown while they streamed. */
  readonly hasInput: boolean;
}

/** Converts a part of a run to parts of the AI SDK. */
export function streamParts(part: RunPart, context: PartContext): HarnessV1StreamPart[] {
  switch (part.kind) {
    case "block-start":
    case "block-delta":
    case "block-end":
      return block(part, context);
    case "call-start": {
      const { id, name } = part;
      const isRun = !context.callerTools.has(name) && { providerExecuted: true };
      return [{ type: "tool-input-start", id, toolName: shownName(name), ...isRun }];
    }
    case "call-delta":
      return [{ type: "tool-input-delta", id: part.id, delta: part.delta }];
    case "call-ready": {
      const { id: toolCallId, name, input } = part;
      const isCallers = context.callerTools.has(name);
      return [
        ...(context.hasInput ? [{ type: "tool-input-end", id: toolCallId } as const] : []),
        {
          type: "tool-call",
          toolCallId,
          toolName: shownName(name),
          input: JSON.stringify(input),
          ...(!isCallers && { providerExecuted: true, nativeName: name }),
        },
      ];
    }
    case "call-end": {
      const { id: toolCallId, name, result, isError } = part;
      if (context.callerTools.has(name)) return [];
      const value = JSON.parse(JSON.stringify(result)) as NonNullable<typeof result>;
      return [
        {
          type: "tool-result",
          toolCallId,
          toolName: shownName(name),
          result: value as never,
          isError,
        },
      ];
    }
    case "turn-end":
      return [finishStep(context.hasCalls ? "toolUse" : "stop", part.replies)];
    case "other":
      return compaction(part.event);
    case "run-end":
      return runEnd(part, context);
    default:
      return [];
  }
}

function block(
  part: Extract<RunPart, { kind: "block-start" | "block-delta" | "block-end" }>,
  { isStructured }: PartContext,
): HarnessV1StreamPart[] {
  if (isStructured && part.block === "text") return [];
  const name = blockNames[part.block];
  const { id } = part;
  if (part.kind === "block-delta") return [{ type: `${name}-delta`, id, delta: part.delta }];
  return [{ type: part.kind === "block-start" ? `${name}-start` : `${name}-end`, id }];
}

function compaction(event: { readonly type: string }): HarnessV1StreamPart[] {
  if (event.type !== "compaction_end" && event.type !== "auto_compaction_end") return [];
  const { result, reason } = event as {
    result?: { summary: string; tokensBefore: number } | null;
    reason?: string;
  };
  if (result === null || result === undefined) return [];
  const { summary, tokensBefore } = result;
  return [
    { type: "compaction", trigger: reason === "manual" ? "manual" : "auto", summary, tokensBefore },
  ];
}

function runEnd(
  part: Extract<RunPart, { kind: "run-end" }>,
  { isStructured }: PartContext,
): HarnessV1StreamPart[] {
  const { status, error, stopReason, replies, output } = part;
  const parts: HarnessV1StreamPart[] = [];
  if (isStructured && output !== undefined) {
    const id = "output";
    parts.push({ type: "text-start", id });
    parts.push({ type: "text-delta", id, delta: JSON.stringify(output) });
    parts.push({ type: "text-end", id });
    parts.push(finishStep("stop", []));
  }
  // HarnessAgent shows an error that follows the caller's abort as the abort itself.
  if (status === "error" || status === "aborted") {
    parts.push({ type: "error", error: new Error(error ?? `The run ended: ${status}`) });
  }
  const reason = finishReason(status === "error" ? "error" : (stopReason ?? "stop"));
  return [...parts, { type: "finish", finishReason: reason, totalUsage: usageOf(replies) }];
}

function finishStep(reason: string, replies: Replies): HarnessV1StreamPart {
  return { type: "finish-step", finishReason: finishReason(reason), usage: usageOf(replies) };
}

function finishReason(raw: string): FinishPart["finishReason"] {
  const reasons: Readonly<Record<string, FinishPart["finishReason"]["unified"]>> = {
    stop: "stop",
    length: "length",
    toolUse: "tool-calls",
    error: "error",
  };
  return { unified: reasons[raw] ?? "other", raw };
}

function usageOf(replies: Replies): Usage {
  const sum = (of: (usage: Replies[number]["usage"]) => number): number =>
    replies.reduce((total, { usage }) => total + of(usage), 0);
  return {
    inputTokens: {
      total: sum(({ input, cacheRead, cacheWrite }) => input + cacheRead + cacheWrite),
      noCache: sum(({ input }) => input),
      cacheRead: sum(({ cacheRead }) => cacheRead),
      cacheWrite: sum(({ cacheWrite }) => cacheWrite),
    },
    outputTokens: {
      total: sum(({ output }) => output),
      text: sum(({ output, reasoning = 0 }) => output - reasoning),
      reasoning: sum(({ reasoning = 0 }) => reasoning),
    },
  };
}

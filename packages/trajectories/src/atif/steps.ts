import type { KnownSessionEntry, SessionEntry, SessionEntryOf } from "@tau-agent/rpc-protocol";
import type {
  AgentMessage,
  AssistantMessage,
  ToolResultMessage,
} from "@tau-agent/rpc-protocol/messages";
import { messageOf } from "@tau-agent/sessions/log";
import type { AtifResult, AtifStep, AtifToolCall } from "./atif.ts";
import { contentOf } from "./content.ts";
import { metricsOf } from "./metrics.ts";

type Mutable<Value> = { -readonly [Name in keyof Value]: Value[Name] };
type Step = Mutable<AtifStep>;

/** A call without a result so far, and the object that receives the result. */
interface OpenCall {
  readonly call: Mutable<AtifToolCall>;
  readonly answer: Mutable<AtifResult>;
}

/** Builds the steps of one branch, one entry at a time. */
export class StepBuilder {
  readonly steps: Step[] = [];
  /** By the model's id of the call; later replies may reuse ids. */
  readonly #open = new Map<string, OpenCall[]>();
  readonly #stepOf = new Map<string, number>();
  #level: string | undefined;
  modelName: string | undefined;

  /** Adds an entry. Returns a tool result with its part of the step, so that the subagents it names can be added. */
  add(
    entry: SessionEntry,
  ): { result: Mutable<AtifResult>; message: ToolResultMessage } | undefined {
    const known = entry as KnownSessionEntry;
    switch (known.type) {
      case "thinking_level_change":
        this.#level = known.thinkingLevel;
        return undefined;
      case "compaction":
        this.#addCompaction(known);
        return undefined;
      case "approval":
        this.#addApproval(known);
        return undefined;
      default: {
        const message = messageOf(entry);
        return message && this.#addMessage(message, entry);
      }
    }
  }

  #addMessage(
    message: AgentMessage,
    { id, timestamp }: SessionEntry,
  ): { result: Mutable<AtifResult>; message: ToolResultMessage } | undefined {
    const time = timeOf(timestamp, message.timestamp);
    switch (message.role) {
      case "assistant":
        this.#addReply(message, id, time);
        return undefined;
      case "toolResult":
        return { result: this.#addResult(message, time), message };
      case "user":
        this.#push(id, {
          ...time,
          source: "user",
          message: contentOf(message.content),
          ...extra({ attachments: message.attachments?.map(({ content: _, ...file }) => file) }),
        });
        return undefined;
      case "custom":
        this.#push(id, {
          ...time,
          source: "user",
          message: contentOf(message.content),
          extra: { custom_type: message.customType },
        });
        return undefined;
      case "bashExecution": {
        const { command, output, exitCode, cancelled, excludeFromContext } = message;
        this.#push(id, {
          ...time,
          source: "system",
          message: `The user ran: ${command}`,
          observation: { results: [{ content: `${output}` }] },
          ...extra({
            exit_code: exitCode ?? undefined,
            cancelled: cancelled || undefined,
            hidden_from_model: excludeFromContext,
          }),
        });
        return undefined;
      }
      case "branchSummary":
        this.#push(id, {
          ...time,
          source: "system",
          message: "Summary of an abandoned branch",
          observation: { results: [{ content: `${message.summary}` }] },
          extra: { context_management: { type: "injection", boundary: "append" } },
        });
        return undefined;
      default:
        return undefined;
    }
  }

  #addReply(message: AssistantMessage, id: string, time: Pick<Step, "timestamp">): void {
    const { content, model, provider, stopReason, errorMessage } = message;
    const text = (type: "text" | "thinking") =>
      content.flatMap((block) =>
        block.type === type ? [block.type === "text" ? block.text : block.thinking] : [],
      );
    const thinking = text("thinking").filter((part) => part !== "");
    const calls = this.#callsOf(content);
    const isUsual = stopReason === "stop" || stopReason === "toolUse";
    this.modelName = model;
    this.#push(id, {
      ...time,
      source: "agent",
      model_name: model,
      ...(this.#level !== undefined && this.#level !== "off" && { reasoning_effort: this.#level }),
      message: text("text").join("\n"),
      ...(thinking.length > 0 && { reasoning_content: thinking.join("\n\n") }),
      ...(calls.length > 0 && {
        tool_calls: calls.map(({ call }) => call),
        observation: { results: calls.map(({ answer }) => answer) },
      }),
      metrics: metricsOf(message.usage),
      llm_call_count: 1,
      ...extra({ provider, stop_reason: isUsual ? undefined : stopReason, error: errorMessage }),
    });
  }

  /** Each call starts with a placeholder result, which says that none was recorded. */
  #callsOf(content: AssistantMessage["content"]): OpenCall[] {
    const taken = new Set<string>();
    const opened: OpenCall[] = [];
    for (const block of content) {
      if (block.type !== "toolCall") continue;
      const id = unusedName(block.id, taken);
      const call = { tool_call_id: id, function_name: block.name, arguments: block.arguments };
      const answer: Mutable<AtifResult> = {
        source_call_id: id,
        content: "No result was recorded.",
        extra: { is_missing: true },
      };
      const open = { call, answer };
      opened.push(open);
      const same = this.#open.get(block.id);
      if (same === undefined) this.#open.set(block.id, [open]);
      else same.push(open);
    }
    return opened;
  }

  #addResult(message: ToolResultMessage, time: Pick<Step, "timestamp">): Mutable<AtifResult> {
    const { toolCallId, toolName, isError, usage } = message;
    // The newest reply may reuse the id of an earlier call that never got a result.
    const open = this.#open.get(toolCallId)?.pop();
    const { extra: _, ...answer } = open?.answer ?? {};
    const result: Mutable<AtifResult> = {
      ...answer,
      content: contentOf(message.content),
      ...extra({
        is_error: isError || undefined,
        usage: usage && metricsOf(usage),
        ...(open === undefined ? { tool_call_id: toolCallId, tool_name: toolName } : {}),
      }),
    };
    if (open === undefined) {
      const observation = { results: [result] };
      this.#push(undefined, {
        ...time,
        source: "system",
        message: "Result of a call that is not on this branch",
        observation,
      });
      return result;
    }
    delete open.answer.extra;
    return Object.assign(open.answer, result);
  }

  #addApproval({ phase, toolCallId, decision, by, message }: SessionEntryOf<"approval">): void {
    const call = this.#open.get(toolCallId)?.at(-1)?.call;
    if (phase !== "answered" || call === undefined) return;
    Object.assign(call, extra({ approval: { decision, by, ...(message && { message }) } }));
  }

  #addCompaction(entry: SessionEntryOf<"compaction">): void {
    const { id, timestamp, summary, tokensBefore, firstKeptEntryId, usage } = entry;
    const kept = this.#stepOf.get(firstKeptEntryId);
    this.#push(id, {
      ...timeOf(timestamp),
      source: "system",
      message: "The conversation was compacted",
      observation: { results: [{ content: `${summary}` }] },
      extra: {
        context_management: {
          type: "compaction",
          // Messages that are kept verbatim stay in the context next to the summary.
          boundary: kept === undefined ? "replace" : "truncate",
          ...(kept !== undefined && { kept_from_step_id: kept }),
        },
        tokens_before: tokensBefore,
        ...(usage && { usage: metricsOf(usage) }),
      },
    });
  }

  #push(entryId: string | undefined, step: Omit<Step, "step_id">): void {
    const step_id = this.steps.length + 1;
    if (entryId !== undefined) this.#stepOf.set(entryId, step_id);
    this.steps.push({ step_id, ...step });
  }
}

/** An unused name: the given one, or that name with the suffix `~2`, `~3`, … */
export function unusedName(given: string, taken: Set<string>): string {
  let name = given;
  for (let count = 2; taken.has(name); count++) name = `${given}~${count}`;
  taken.add(name);
  return name;
}

/** The first of the times that other programs can parse. */
function timeOf(...times: readonly unknown[]): Pick<Step, "timestamp"> {
  for (const time of times) {
    const date = new Date(time as string | number);
    const year = Number.isNaN(date.getTime()) ? 0 : date.getUTCFullYear();
    if (year > 0 && year < 10_000) return { timestamp: date.toISOString() };
  }
  return {};
}

/** `extra` with the defined members; nothing if there are none. */
function extra(members: Readonly<Record<string, unknown>>): Pick<Step, "extra"> {
  const given = Object.entries(members).filter(([, value]) => value !== undefined);
  return given.length === 0 ? {} : { extra: Object.fromEntries(given) };
}

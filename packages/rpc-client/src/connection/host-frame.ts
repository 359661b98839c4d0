import {
  type ClientEvent,
  type EventOrder,
  ExtensionUiRequest,
  type HostRequestFrame,
  type HostRequestResolved,
  type HostToolCall,
  type HostToolCancel,
  type HostUriCancel,
  type HostUriRequest,
  type RequestId,
  type ResponseFrame,
} from "@tau-agent/rpc-protocol";
import type { AssistantMessage, ToolCall, Usage } from "@tau-agent/rpc-protocol/messages";
import { isJsonObject, type JsonObject } from "@tau-agent/rpc-protocol/plain";
import type { ToWorkspaceClient } from "@tau-agent/rpc-protocol/workspace";

/** A `message_update` in delta form: only the step, which the client applies. */
export interface DeltaUpdate {
  readonly usage: Usage | undefined;
  readonly step: DeltaStep;
  readonly order: Partial<EventOrder>;
}

/** A step of a reply without the resulting message. */
export interface DeltaStep {
  readonly type: string;
  readonly contentIndex: number;
  readonly delta: string;
  readonly content: string | undefined;
  readonly id: string;
  readonly toolName: string;
  readonly toolCall: ToolCall | undefined;
  readonly reason: string | undefined;
  readonly message: AssistantMessage | undefined;
}

/** A request of the host to its client, or the withdrawal of one. */
export type AskedFrame =
  | HostRequestFrame
  | HostRequestResolved
  | HostToolCall
  | HostToolCancel
  | HostUriRequest
  | HostUriCancel
  | ToWorkspaceClient;

export type HostLine =
  | { readonly kind: "response"; readonly frame: ResponseFrame }
  | { readonly kind: "ui_request"; readonly request: ExtensionUiRequest }
  | { readonly kind: "asked"; readonly frame: AskedFrame }
  | { readonly kind: "bad_ui_request"; readonly id: string }
  | { readonly kind: "event"; readonly event: ClientEvent }
  | { readonly kind: "delta"; readonly update: DeltaUpdate }
  | { readonly kind: "noise" };

/**
 * Decodes one line of a host. The checks are lenient: another version of the host may send more or fewer
 * members, and unknown event types are passed on. Never throws.
 */
export function decodeHostLine(line: string): HostLine {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return { kind: "noise" };
  }
  return decodeHostFrame(value);
}

export function decodeHostFrame(value: unknown): HostLine {
  if (!isJsonObject(value) || typeof value.type !== "string") return { kind: "noise" };
  if (value.type === "response") return decodeResponse(value);
  if (value.type === "extension_ui_request") return decodeUiRequest(value);
  if (Object.hasOwn(isWholeAsked, value.type)) return decodeAsked(value);
  if (value.type === "message_update" && !isJsonObject(value.message)) return decodeDelta(value);
  return isEvent(value) ? { kind: "event", event: value } : { kind: "noise" };
}

function decodeResponse(value: Record<string, unknown>): HostLine {
  const { id, command, success, data, error, code } = value;
  if (typeof command !== "string" || typeof success !== "boolean") return { kind: "noise" };
  const frame: ResponseFrame = { type: "response", command, success };
  if (isRequestId(id)) frame.id = id;
  if (data !== undefined) frame.data = data;
  if (typeof error === "string") frame.error = error;
  if (isErrorCode(code)) frame.code = code;
  return { kind: "response", frame };
}

function decodeUiRequest(value: Record<string, unknown>): HostLine {
  const parsed = ExtensionUiRequest.safeParse(value);
  if (parsed.success) return { kind: "ui_request", request: parsed.data };
  return typeof value.id === "string"
    ? { kind: "bad_ui_request", id: value.id }
    : { kind: "noise" };
}

/** Whether a request has the members that are required to answer it. */
const isWholeAsked: Readonly<Record<AskedFrame["type"], (frame: JsonObject) => boolean>> = {
  // Requests of unknown kinds are left to other clients.
  host_request: ({ id, params }) => typeof id === "string" && isJsonObject(params),
  host_request_resolved: ({ id }) => typeof id === "string",
  host_tool_call: ({ id, arguments: args }) => typeof id === "string" && isJsonObject(args),
  host_tool_cancel: () => true,
  host_uri_request: ({ id, url }) => typeof id === "string" && typeof url === "string",
  host_uri_cancel: () => true,
  workspace_call: () => true,
  workspace_cancel: () => true,
};

function decodeAsked(value: JsonObject): HostLine {
  const frame = value as AskedFrame;
  return isWholeAsked[frame.type](value) ? { kind: "asked", frame } : { kind: "noise" };
}

function decodeDelta(value: Record<string, unknown>): HostLine {
  const step = value.assistantMessageEvent;
  if (!isJsonObject(step) || typeof step.type !== "string") return { kind: "noise" };
  const final = step.message ?? step.error;
  const { promptId, seq, sessionId } = value;
  return {
    kind: "delta",
    update: {
      usage: isUsage(value.usage) ? value.usage : undefined,
      step: {
        type: step.type,
        contentIndex: typeof step.contentIndex === "number" ? step.contentIndex : 0,
        delta: text(step.delta) ?? "",
        content: text(step.content),
        id: text(step.id) ?? "",
        toolName: text(step.toolName) ?? "",
        toolCall: isToolCall(step.toolCall) ? step.toolCall : undefined,
        reason: text(step.reason),
        message: isAssistantMessage(final) ? final : undefined,
      },
      order: {
        ...(typeof promptId === "string" ? { promptId } : {}),
        ...(typeof seq === "number" ? { seq } : {}),
        // Only a host with many sessions sends it.
        ...(typeof sessionId === "string" ? { sessionId } : {}),
      },
    },
  };
}

/** The members without which a listener cannot handle an event of a known type. */
const requiredRecord: Readonly<Record<string, string>> = {
  message_start: "message",
  message_update: "assistantMessageEvent",
  message_end: "message",
  turn_end: "message",
};

function isEvent(value: Record<string, unknown>): value is ClientEvent {
  const required = requiredRecord[String(value.type)];
  if (required !== undefined && !isJsonObject(value[required])) return false;
  return value.type !== "agent_end" || Array.isArray(value.messages);
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function isRequestId(value: unknown): value is RequestId {
  return typeof value === "string" || typeof value === "number";
}

/** Codes of a newer host are passed on, too. */
function isErrorCode(value: unknown): value is NonNullable<ResponseFrame["code"]> {
  return typeof value === "string";
}

function isUsage(value: unknown): value is Usage {
  return isJsonObject(value) && typeof value.input === "number" && isJsonObject(value.cost);
}

function isToolCall(value: unknown): value is ToolCall {
  return isJsonObject(value) && value.type === "toolCall" && isJsonObject(value.arguments);
}

export function isAssistantMessage(value: unknown): value is AssistantMessage {
  return isJsonObject(value) && value.role === "assistant" && Array.isArray(value.content);
}

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
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import type { ToWorkspaceClient } from "@tau-agent/rpc-protocol/workspace";

/** A `message_update` in delta form: only the step, for the client to apply. */
export interface DeltaUpdate {
  readonly usage: Usage | undefined;
  readonly step: DeltaStep;
  readonly order: Partial<EventOrder>;
}

/** A step of a reply without the message it results in. */
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

export type HostLine =
  | { readonly kind: "response"; readonly frame: ResponseFrame }
  | { readonly kind: "ui_request"; readonly request: ExtensionUiRequest }
  | { readonly kind: "host_request"; readonly request: HostRequestFrame }
  | { readonly kind: "host_request_resolved"; readonly resolved: HostRequestResolved }
  | { readonly kind: "host_tool_call"; readonly call: HostToolCall }
  | { readonly kind: "host_tool_cancel"; readonly cancel: HostToolCancel }
  | { readonly kind: "host_uri_request"; readonly request: HostUriRequest }
  | { readonly kind: "host_uri_cancel"; readonly cancel: HostUriCancel }
  | { readonly kind: "workspace"; readonly frame: ToWorkspaceClient }
  | { readonly kind: "bad_ui_request"; readonly id: string }
  | { readonly kind: "event"; readonly event: ClientEvent }
  | { readonly kind: "delta"; readonly update: DeltaUpdate }
  | { readonly kind: "noise" };

/**
 * Decodes one line of a host. The checks are light: another version of the host may send more or
 * fewer members, and an unknown event type is passed on. Never throws.
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
  if (value.type === "host_request") return decodeHostRequest(value);
  if (value.type === "host_request_resolved") return decodeResolved(value);
  if (value.type === "host_tool_call") return decodeToolCall(value);
  if (value.type === "host_tool_cancel") {
    return { kind: "host_tool_cancel", cancel: value as HostToolCancel };
  }
  if (value.type === "host_uri_request") return decodeUriRequest(value);
  if (value.type === "host_uri_cancel") {
    return { kind: "host_uri_cancel", cancel: value as HostUriCancel };
  }
  if (value.type === "workspace_call" || value.type === "workspace_cancel") {
    return { kind: "workspace", frame: value as ToWorkspaceClient };
  }
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

/** A request of a kind that this client does not know is left to others. */
function decodeHostRequest(value: Record<string, unknown>): HostLine {
  const isWhole = typeof value.id === "string" && isJsonObject(value.params);
  if (!isWhole) return { kind: "noise" };
  return { kind: "host_request", request: value as HostRequestFrame };
}

function decodeToolCall(value: Record<string, unknown>): HostLine {
  if (typeof value.id !== "string" || !isJsonObject(value.arguments)) return { kind: "noise" };
  return { kind: "host_tool_call", call: value as HostToolCall };
}

function decodeUriRequest(value: Record<string, unknown>): HostLine {
  if (typeof value.id !== "string" || typeof value.url !== "string") return { kind: "noise" };
  return { kind: "host_uri_request", request: value as HostUriRequest };
}

function decodeResolved(value: Record<string, unknown>): HostLine {
  if (typeof value.id !== "string") return { kind: "noise" };
  return { kind: "host_request_resolved", resolved: value as HostRequestResolved };
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
        // Of a host with many sessions.
        ...(typeof sessionId === "string" ? { sessionId } : {}),
      },
    },
  };
}

/** The members that a listener needs to handle an event of a known type at all. */
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

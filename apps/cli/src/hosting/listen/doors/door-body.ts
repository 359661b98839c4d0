import type { ShownRequest } from "@tau-agent/rpc-client/streams";
import { isJsonObject, type JsonObject } from "@tau-agent/rpc-protocol/plain";

/** What the body of a prompt says, whichever client wrote it. */
export interface DoorBody {
  /** The last message, if it is the user's. */
  readonly prompt: DoorPrompt | undefined;
  readonly answers: readonly DoorAnswer[];
  readonly threadId: string | undefined;
  readonly runId: string | undefined;
}

export interface DoorPrompt {
  readonly text: string;
  readonly images: readonly object[];
  /** PDFs and other documents of the types that the host accepts. */
  readonly attachments: readonly object[];
}

/** An answer to an open request, by the id of the request or of its tool call. */
interface DoorAnswer {
  readonly id: string;
  /** The answer in the client's form; `toResponse` converts it for the request. */
  readonly value: unknown;
  readonly kind: "approval" | "tool" | "tool_error" | "request" | "cancel";
}

/**
 * Reads the body that `useChat` or an AG-UI client sends. Only its last message is used as a prompt. The rest
 * (history, state, context, tools) belongs to the client and reaches no model.
 *
 * @throws {TypeError} for a body that these clients do not send
 */
export function readDoorBody(body: JsonObject): DoorBody {
  const { messages, trigger, resume, threadId, runId } = body;
  if (!Array.isArray(messages)) throw new TypeError("messages: expected an array");
  if (trigger === "regenerate-message") {
    throw new TypeError("trigger: regenerate-message is not supported; rewind the session instead");
  }
  if (resume !== undefined && resume !== null && !Array.isArray(resume)) {
    throw new TypeError("resume: expected an array");
  }
  const objects = messages.filter(isJsonObject);
  const last = objects.at(-1);
  const answers = [...resumeAnswers(resume ?? []), ...newest(objects).flatMap(messageAnswers)];
  const isPrompt = last?.role === "user" && !(Array.isArray(resume) && resume.length > 0);
  return {
    prompt: isPrompt ? promptOf(last) : undefined,
    answers,
    threadId: stringOf(threadId),
    runId: stringOf(runId),
  };
}

/**
 * The messages that may answer an open request: those after the last user message. Models reuse the ids of
 * calls, so an older result could otherwise answer a later call.
 */
function newest(messages: readonly JsonObject[]): readonly JsonObject[] {
  return messages.slice(
    Math.max(
      0,
      messages.findLastIndex(({ role }) => role === "user"),
    ),
  );
}

/** Converts the answer to the form that the request expects. */
export function toResponse(request: ShownRequest | HostToolRequest, answer: DoorAnswer): object {
  const { id } = request;
  if (request.method === "host_tool") return toolResult(id, answer);
  if (answer.kind === "cancel") {
    return { type: "host_response", id, error: { message: "cancelled by the user" } };
  }
  if (request.method !== "tool_approval" || answer.kind === "request") {
    return { type: "host_response", id, result: answer.value };
  }
  const { approved, reason } = Object(answer.value) as { approved?: unknown; reason?: unknown };
  const message = typeof reason === "string" ? { message: reason } : {};
  const result = approved === true ? { decision: "allow" } : { decision: "deny", ...message };
  return { type: "host_response", id, result };
}

export interface HostToolRequest {
  readonly id: string;
  readonly method: "host_tool";
  readonly toolCallId?: string | undefined;
}

/** The answer in a body to this request, if there is one. */
export function answerTo(
  { id, toolCallId, method }: ShownRequest | HostToolRequest,
  answers: readonly DoorAnswer[],
): DoorAnswer | undefined {
  const isTool = method === "host_tool";
  return answers.findLast(
    (answer) =>
      answer.id === (isTool ? toolCallId : id) &&
      isTool === (answer.kind === "tool" || answer.kind === "tool_error"),
  );
}

function toolResult(id: string, { kind, value }: DoorAnswer): object {
  const text = typeof value === "string" ? value : JSON.stringify(value ?? null);
  const content = [{ type: "text", text }];
  return { type: "host_tool_result", id, result: { content }, isError: kind === "tool_error" };
}

function resumeAnswers(resume: readonly unknown[]): DoorAnswer[] {
  return resume.filter(isJsonObject).flatMap(({ interruptId, status, payload }): DoorAnswer[] => {
    if (typeof interruptId !== "string") return [];
    if (status === "cancelled") return [{ id: interruptId, kind: "cancel", value: undefined }];
    const isApproval = isJsonObject(payload) && typeof payload.approved === "boolean";
    return [{ id: interruptId, kind: isApproval ? "approval" : "request", value: payload }];
  });
}

function messageAnswers({ role, parts, toolCallId, content, error }: JsonObject): DoorAnswer[] {
  if (role === "tool" && typeof toolCallId === "string") {
    const isError = typeof error === "string";
    return [
      { id: toolCallId, kind: isError ? "tool_error" : "tool", value: isError ? error : content },
    ];
  }
  if (!Array.isArray(parts)) return [];
  return parts.filter(isJsonObject).flatMap(partAnswers);
}

function partAnswers(part: JsonObject): DoorAnswer[] {
  const { type, state, approval, toolCallId, output, errorText, data } = part;
  if (type === "data-tau-response" && isJsonObject(data) && typeof data.id === "string") {
    return [{ id: data.id, kind: "request", value: data.result }];
  }
  if (typeof type !== "string" || !(type === "dynamic-tool" || type.startsWith("tool-"))) return [];
  if (state === "approval-responded" && isJsonObject(approval) && typeof approval.id === "string") {
    return [{ id: approval.id, kind: "approval", value: approval }];
  }
  if (typeof toolCallId !== "string") return [];
  if (state === "output-available") return [{ id: toolCallId, kind: "tool", value: output }];
  if (state === "output-error") return [{ id: toolCallId, kind: "tool_error", value: errorText }];
  return [];
}

/** The text and files of a message, in the format of either client. */
function promptOf({ parts, content }: JsonObject): DoorPrompt {
  if (typeof content === "string") return { text: content, images: [], attachments: [] };
  const pieces = Array.isArray(parts) ? parts : content;
  if (!Array.isArray(pieces)) throw new TypeError("messages: the last one has no parts");
  const all = pieces.filter(isJsonObject);
  const text = all
    .map((part) => (part.type === "text" ? (stringOf(part.text) ?? "") : ""))
    .join("");
  const files = all.flatMap(fileOf);
  const isImage = ({ mimeType }: DoorFile) => mimeType.startsWith("image/");
  return {
    text,
    images: files.filter(isImage).map(({ data, mimeType }) => ({ type: "image", data, mimeType })),
    attachments: files.filter((file) => !isImage(file)),
  };
}

interface DoorFile {
  readonly data: string;
  readonly mimeType: string;
  readonly fileName?: string;
}

function fileOf({ type, url, mediaType, filename, source }: JsonObject): DoorFile[] {
  if (type !== "file" && type !== "image" && type !== "document") return [];
  const { type: kind, value, mimeType: named } = isJsonObject(source) ? source : {};
  if (kind === "data") return [{ data: String(value), mimeType: String(named) }];
  const address = stringOf(url) ?? stringOf(value) ?? "";
  const [, mimeType, data] = /^data:([\w.+-]+\/[\w.+-]+);base64,(.*)$/s.exec(address) ?? [];
  if (mimeType === undefined || data === undefined) {
    const what = stringOf(mediaType) ?? "a file";
    throw new TypeError(`messages: expected files as data URLs, got ${what} elsewhere`);
  }
  return [{ data, mimeType, ...(typeof filename === "string" && { fileName: filename }) }];
}

function stringOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

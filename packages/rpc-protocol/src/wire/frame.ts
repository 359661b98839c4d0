import type { $ZodIssue } from "zod/v4/core";
import type { Command } from "../commands/command.ts";
import { type CommandName, commands, isCommandName, type Params } from "../commands/index.ts";
import { type CommandTraits, traitsOf } from "../commands/traits.ts";
import type { WorkspaceOutputFrame, WorkspaceResultFrame } from "../vocabulary/client-workspace.ts";
import { type ErrorCode, errorText } from "../vocabulary/error.ts";
import type { ExtensionUiResponse } from "../vocabulary/extension-ui.ts";
import type { RequestId } from "../vocabulary/host-frame.ts";
import type { HostAnswer } from "../vocabulary/host-request.ts";
import { isJsonObject } from "../vocabulary/json-object.ts";
import { exactId } from "./exact-id.ts";
import { decodeHostAnswer, isHostAnswer } from "./host-answer.ts";
import { typeName } from "./type-name.ts";

/** A decoded command, with the parts of its definition that a host needs. */
export type CommandFrame = CommandTraits &
  {
    [N in CommandName]: {
      kind: "command";
      id: RequestId | undefined;
      name: N;
      params: Params<N>;
      sessionId?: unknown;
    };
  }[CommandName];

/** A decoded frame of a client. */
export type ClientFrame =
  | CommandFrame
  | { kind: "extension_ui_response"; response: ExtensionUiResponse; sessionId?: unknown }
  | { kind: "host_answer"; answer: HostAnswer; sessionId?: unknown }
  | WorkspaceAnswer;

/** A frame of a client that serves a workspace; the caller that receives it validates it. */
export interface WorkspaceAnswer {
  readonly kind: "workspace_answer";
  readonly answer: WorkspaceResultFrame | WorkspaceOutputFrame;
  readonly sessionId?: unknown;
}

/** Why a line was refused, with everything needed to answer it. */
export interface FrameError {
  readonly kind: "error";
  readonly id: RequestId | undefined;
  /** The `command` of the response: the name that was sent, or `parse` if none could be read. */
  readonly command: string;
  readonly code: ErrorCode;
  readonly error: string;
  readonly sessionId?: unknown;
}

/** Decodes one line of a client. Never throws. A `sessionId` is passed on as it was sent. */
export function decodeClientFrame(line: string): ClientFrame | FrameError {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    return refuse(undefined, "parse", "parse", { reason: (error as Error).message });
  }
  if (!isJsonObject(value)) {
    return refuse(undefined, "parse", "parse", { reason: "a command must be a JSON object" });
  }
  const frame = decodeFields(value, line);
  const { sessionId } = value;
  return sessionId === undefined || sessionId === null ? frame : { ...frame, sessionId };
}

function decodeFields(value: Record<string, unknown>, line: string): ClientFrame | FrameError {
  const { id, type, ...fields } = value;
  const requestId =
    typeof id === "string" || typeof id === "number" ? exactId(id, line) : undefined;
  if (typeof type !== "string") {
    return refuse(requestId, "parse", "parse", { reason: 'field "type" must be a string' });
  }
  if (type === "extension_ui_response") return decodeUiResponse(value, requestId);
  if (type === "workspace_result" || type === "workspace_output") {
    if (typeof id === "string") return { kind: "workspace_answer", answer: value as never };
    const problem = { id: String(id), field: "id", reason: "expected the id of a call" };
    return refuse(requestId, type, "invalid_response", problem);
  }
  if (isHostAnswer(type)) {
    const decoded = decodeHostAnswer(type, value);
    if (!("field" in decoded)) return { kind: "host_answer", answer: decoded };
    return refuse(requestId, type, "invalid_response", { id: String(id), ...decoded });
  }
  if (!isCommandName(type)) return refuse(requestId, type, "unknown_command", { command: type });
  if (id !== undefined && id !== null && requestId === undefined) {
    return refuse(undefined, type, "invalid_params", {
      command: type,
      field: "id",
      reason: `expected string or number, got ${typeName(id)}`,
    });
  }
  return decodeParams(type, requestId, fields);
}

function decodeParams(
  name: CommandName,
  id: RequestId | undefined,
  fields: Record<string, unknown>,
): ClientFrame | FrameError {
  const definition: Command = commands[name];
  const { params, hasFields, refusesUnknown } = definition;
  const head = { kind: "command", id, name, ...traitsOf(definition) } as const;
  // Everything else that is sent is ignored (row "`get_state` idle").
  if (!hasFields) return { ...head, params: {} } as CommandFrame;
  const schema = params();
  const known = Object.keys(schema.shape);
  const given = withoutNulls(fields, schema);
  const unknown = refusesUnknown
    ? Object.keys(given).find((key) => key !== "sessionId" && !known.includes(key))
    : undefined;
  if (unknown !== undefined) {
    const reason = `is unknown; known are ${known.join(", ")}`;
    return refuse(id, name, "invalid_params", { command: name, field: unknown, reason });
  }
  const parsed = schema.safeParse(given);
  if (parsed.success) return { ...head, params: parsed.data } as CommandFrame;
  return refuse(id, name, "invalid_params", {
    command: name,
    ...explain(parsed.error.issues, fields),
  });
}

/** Many clients send an absent optional field as `null`; it is kept if the command gives it a meaning. */
function withoutNulls(
  fields: Record<string, unknown>,
  schema: ReturnType<Command["params"]>,
): Record<string, unknown> {
  const shape: Readonly<Record<string, { safeParse(value: null): { success: boolean } }>> =
    "shape" in schema ? Object(schema.shape) : {};
  const isMeant = (name: string): boolean =>
    Object.hasOwn(shape, name) && shape[name]?.safeParse(null).success === true;
  return Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => value !== null || isMeant(name)),
  );
}

function decodeUiResponse(
  value: Record<string, unknown>,
  id: RequestId | undefined,
): ClientFrame | FrameError {
  const { value: answer, confirmed, cancelled } = value;
  const wrong = (field: string, expected: string, got: unknown) =>
    refuse(id, "extension_ui_response", "invalid_params", {
      command: "extension_ui_response",
      field,
      reason: `expected ${expected}, got ${typeName(got)}`,
    });
  if (typeof value.id !== "string") return wrong("id", "string", value.id);
  if (answer != null && typeof answer !== "string") return wrong("value", "string", answer);
  if (confirmed != null && typeof confirmed !== "boolean")
    return wrong("confirmed", "boolean", confirmed);
  if (cancelled != null && typeof cancelled !== "boolean")
    return wrong("cancelled", "boolean", cancelled);
  const response: ExtensionUiResponse = { type: "extension_ui_response", id: value.id };
  if (answer != null) response.value = answer;
  if (confirmed != null) response.confirmed = confirmed;
  if (cancelled != null) response.cancelled = cancelled;
  return { kind: "extension_ui_response", response };
}

function refuse(
  id: RequestId | undefined,
  command: string,
  code: ErrorCode,
  values: Record<string, string>,
): FrameError {
  return { kind: "error", id, command, code, error: errorText(code, values) };
}

/** The first error, as the path of the field and what was expected there. */
function explain(
  issues: readonly $ZodIssue[],
  fields: Record<string, unknown>,
): { field: string; reason: string } {
  const issue = deepest(issues[0]);
  if (issue === undefined) return { field: "?", reason: "is not valid" };
  const got = typeName(valueAt(fields, issue.path));
  return { field: fieldPath(issue.path), reason: expectation(issue, got) };
}

/** In a union, the error of the branch that matched furthest is the most helpful. */
function deepest(issue: $ZodIssue | undefined): $ZodIssue | undefined {
  if (issue?.code !== "invalid_union") return issue;
  let best: $ZodIssue | undefined;
  for (const branch of issue.errors) {
    const candidate = deepest(branch[0]);
    if (candidate && candidate.path.length > (best?.path.length ?? 0)) best = candidate;
  }
  return best ? { ...best, path: [...issue.path, ...best.path] } : issue;
}

function expectation(issue: $ZodIssue, got: string): string {
  if (issue.code === "invalid_type") {
    return got === "nothing"
      ? `is required (${issue.expected})`
      : `expected ${issue.expected}, got ${got}`;
  }
  if (issue.code === "invalid_value") {
    const allowed = issue.values.map((value) => JSON.stringify(value)).join(", ");
    return `expected ${issue.values.length > 1 ? "one of " : ""}${allowed}, got ${got}`;
  }
  if (issue.code === "too_small") {
    const least = `at least ${issue.minimum}`;
    return issue.origin === "number" ? `has to be ${least}` : `has to have ${least} characters`;
  }
  if (issue.code === "too_big") return `has to be at most ${issue.maximum}`;
  if (issue.code === "invalid_union") return `does not have an accepted shape, got ${got}`;
  return issue.message;
}

function fieldPath(path: readonly PropertyKey[]): string {
  let text = "";
  for (const key of path)
    text += typeof key === "number" ? `[${key}]` : `${text && "."}${String(key)}`;
  return text;
}

function valueAt(fields: unknown, path: readonly PropertyKey[]): unknown {
  let value = fields;
  for (const key of path)
    value = isJsonObject(value) || Array.isArray(value) ? Reflect.get(value, key) : undefined;
  return value;
}

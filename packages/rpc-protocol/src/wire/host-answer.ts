import type { HostAnswer } from "../vocabulary/host-request.ts";
import type { HostUriResult } from "../vocabulary/host-uri.ts";
import { isJsonObject } from "../vocabulary/json-object.ts";
import { typeName } from "./type-name.ts";

/** The error in an answer. */
interface AnswerProblem {
  readonly field: string;
  readonly reason: string;
}

type AnswerType = HostAnswer["type"];

const types: ReadonlySet<string> = new Set([
  "host_response",
  "host_tool_update",
  "host_tool_result",
  "host_uri_result",
] satisfies AnswerType[]);

/** Whether a frame of this type answers a host request. */
export function isHostAnswer(type: string): type is AnswerType {
  return types.has(type);
}

/** The answer, or the member with the wrong type. Its content is checked by the code that awaits it. */
export function decodeHostAnswer(
  type: AnswerType,
  frame: Readonly<Record<string, unknown>>,
): HostAnswer | AnswerProblem {
  const { id } = frame;
  if (typeof id !== "string") return wrong("id", "string", id);
  switch (type) {
    case "host_response": {
      const { result, error } = frame;
      if (error === undefined || error === null) return { type, id, ...given({ result }) };
      if (!isJsonObject(error)) return wrong("error", "object", error);
      const { message } = error;
      if (typeof message !== "string") return wrong("error.message", "string", message);
      return { type, id, error: { message } };
    }
    case "host_tool_update":
      return { type, id, ...given({ partialResult: frame.partialResult }) };
    case "host_tool_result": {
      const { isError } = frame;
      if (isError !== undefined && isError !== null && typeof isError !== "boolean") {
        return wrong("isError", "boolean", isError);
      }
      return { type, id, ...given({ result: frame.result }), ...(isError === true && { isError }) };
    }
    case "host_uri_result":
      return decodeUriResult(id, frame);
  }
}

const uriMembers = {
  content: "string",
  contentType: "string",
  notes: "array of strings",
  immutable: "boolean",
  isError: "boolean",
  error: "string",
} as const;

function decodeUriResult(
  id: string,
  frame: Readonly<Record<string, unknown>>,
): HostUriResult | AnswerProblem {
  const members = Object.entries(uriMembers).map(
    ([name, expected]) => [name, frame[name] ?? undefined, expected] as const,
  );
  const bad = members.find(([, value, expected]) => value !== undefined && !isA(value, expected));
  if (bad !== undefined) return wrong(bad[0], bad[2], bad[1]);
  const given = members.filter(([, value]) => value !== undefined);
  return { type: "host_uri_result", id, ...Object.fromEntries(given) };
}

function isA(value: unknown, expected: string): boolean {
  if (expected !== uriMembers.notes) return typeof value === expected;
  return Array.isArray(value) && value.every((note) => typeof note === "string");
}

function given<Members extends Record<string, unknown>>(members: Members): Partial<Members> {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Partial<Members>;
}

function wrong(field: string, expected: string, got: unknown): AnswerProblem {
  return { field, reason: `expected ${expected}, got ${typeName(got)}` };
}

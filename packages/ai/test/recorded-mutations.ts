import type { Reading } from "./recorded-reply.ts";

/** A change to a recorded reply that a reader must detect. */
export interface Mutation {
  readonly name: string;
  /** Whether the reply contains something to change. */
  readonly applies: (plain: Reading) => boolean;
  readonly change: (chunks: readonly unknown[]) => unknown[];
  /** The part of the reading that shows the change. */
  readonly seen: (reading: Reading) => unknown;
}

/** A member of a chunk and its path. */
interface Place {
  readonly key: string;
  readonly owner: Readonly<Record<string, unknown>>;
  /** The keys of its ancestors, outermost first. */
  readonly path: readonly string[];
}

const spoken = new Set(["text", "content", "thinking", "delta"]);
const callParts = new Set(["function", "functionCall"]);
const callTypes = new Set(["tool_use", "function_call"]);
const argumentKeys = new Set(["arguments", "partial_json", "args", "stringValue", "input"]);

/** For each wire format's stop reasons, a different one. */
const otherEnds: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  stop_reason: { end_turn: "max_tokens", tool_use: "max_tokens", max_tokens: "end_turn" },
  finish_reason: { stop: "length", tool_calls: "length", length: "stop" },
  finishReason: { STOP: "MAX_TOKENS" },
  status: { completed: "incomplete", incomplete: "completed" },
  type: {
    "response.completed": "response.incomplete",
    "response.incomplete": "response.completed",
  },
};

/** One mutation for each part of a reply. */
export const mutations: readonly Mutation[] = [
  {
    name: "a word",
    applies: ({ text }) => /[a-pr-z]/.test(text),
    change: mapStrings(({ key }, value) => spoken.has(key) && value.replaceAll(/[a-z]/g, "q")),
    seen: ({ text }) => text,
  },
  {
    name: "the name of a call",
    applies: ({ calls }) => calls.length > 0,
    change: mapStrings((place, value) => place.key === "name" && isCall(place) && `${value}x`),
    seen: ({ calls }) => calls.map(({ name }) => name),
  },
  {
    name: "the arguments of a call",
    applies: ({ calls }) => calls.some((call) => hasWords(call.arguments)),
    change: mapStrings((place, value) => isArgument(place) && value.replaceAll(/[a-z]/gi, "q")),
    seen: ({ calls }) => calls.map((call) => call.arguments),
  },
  {
    name: "the id of a call",
    applies: ({ calls }) => calls.some(({ id }) => id !== undefined),
    change: mapStrings(
      (place, value) => /^(?:id|call_id)$/.test(place.key) && isCall(place) && `${value}x`,
    ),
    seen: ({ calls }) => calls.map(({ id }) => id),
  },
  {
    name: "what it took in",
    applies: ({ input }) => input > 0,
    change: mapUsage(/input|prompt/i),
    seen: ({ input }) => input,
  },
  {
    name: "what it put out",
    applies: ({ output }) => output > 0,
    change: mapUsage(/output|completion_tokens$|candidates/i),
    seen: ({ output }) => output,
  },
  {
    name: "why it ended",
    applies: ({ stop }) => stop !== "error",
    change: mapStrings(({ key }, value) => otherEnds[key]?.[value] ?? false),
    seen: ({ stop }) => stop,
  },
];

function hasWords(value: unknown): boolean {
  if (typeof value === "string") return /[a-pr-z]/i.test(value);
  return typeof value === "object" && value !== null && Object.values(value).some(hasWords);
}

function isCall({ owner, path }: Place): boolean {
  const isPart = callParts.has(path.at(-1) ?? "") || callTypes.has(String(owner.type));
  return isPart || path.at(-2) === "tool_calls";
}

function isArgument({ key, owner, path }: Place): boolean {
  if (key === "delta") return owner.type === "response.function_call_arguments.delta";
  return argumentKeys.has(key) || path.some((above) => above === "args" || above === "input");
}

/** Replaces strings; `false` keeps a string. */
function mapStrings(
  replace: (place: Place, value: string) => string | false,
): (chunks: readonly unknown[]) => unknown[] {
  return (chunks) =>
    mapMembers(chunks, (place, value) =>
      typeof value === "string" && value !== "" ? replace(place, value) || value : value,
    );
}

/** Increments the token counts with a matching name. */
function mapUsage(name: RegExp): (chunks: readonly unknown[]) => unknown[] {
  return (chunks) =>
    mapMembers(chunks, ({ key, path }, value) =>
      typeof value === "number" && /usage/i.test(path.join(".")) && name.test(key)
        ? value + 1
        : value,
    );
}

function mapMembers(
  chunks: readonly unknown[],
  replace: (place: Place, value: unknown) => unknown,
): unknown[] {
  const map = (value: unknown, path: readonly string[]): unknown => {
    if (Array.isArray(value)) return value.map((item, index) => map(item, [...path, `${index}`]));
    if (typeof value !== "object" || value === null) return value;
    const owner = value as Record<string, unknown>;
    return Object.fromEntries(
      Object.entries(owner).map(([key, member]) => [
        key,
        replace({ key, owner, path }, map(member, [...path, key])),
      ]),
    );
  };
  return chunks.map((chunk) => map(chunk, []));
}

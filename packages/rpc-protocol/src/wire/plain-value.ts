import { isExactNumber } from "./exact-id.ts";

/** Deeper values would overflow the stack of some readers. */
const MAX_PLAIN_DEPTH = 1000;
/** How much is kept of a value that must be copied: enough for any real value. */
const MAX_DEPTH = 200;

/**
 * The value itself if JSON can express it and `structuredClone` can copy it; otherwise, a copy in which
 * everything else (a BigInt, a function, a cycle, a member that throws) is replaced or omitted.
 */
export function toPlainValue<Value>(value: Value): Value {
  return isPlain(value, new Set(), 0) ? value : (expressible(value) as Value);
}

/** A copy that JSON can write, whatever the value is. */
export function expressible(value: unknown): unknown {
  return copyOf(value, new Set(), 0);
}

function isPlain(value: unknown, ancestors: Set<object>, depth: number): boolean {
  if (typeof value !== "object" || value === null) return isPlainPrimitive(value);
  if (depth >= MAX_PLAIN_DEPTH || ancestors.has(value)) return false;
  try {
    const prototype: unknown = Object.getPrototypeOf(value);
    const isList = Array.isArray(value);
    if (!isList && prototype !== Object.prototype && prototype !== null) return isCopyable(value);
    ancestors.add(value);
    const members: readonly unknown[] = isList ? value : Object.values(value);
    // A loop, because this runs for each recorded message (row `read-turn-early`).
    for (const member of members) {
      if (typeof member !== "string" && !isPlain(member, ancestors, depth + 1)) return false;
    }
    ancestors.delete(value);
    return true;
  } catch {
    return false;
  }
}

function isPlainPrimitive(value: unknown): boolean {
  const type = typeof value;
  return type !== "bigint" && type !== "function" && type !== "symbol";
}

/** For dates, maps and class instances, only an attempt can tell. */
function isCopyable(value: object): boolean {
  if (isExactNumber(value)) return true;
  JSON.stringify(value);
  structuredClone(value);
  return true;
}

function copyOf(value: unknown, ancestors: Set<object>, depth: number): unknown {
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null)
    return isPlainPrimitive(value) ? value : undefined;
  if (isExactNumber(value)) return value;
  if (ancestors.has(value)) return "[circular]";
  if (depth >= MAX_DEPTH) return "[too deep]";
  ancestors.add(value);
  try {
    return copyMembers(value, (member) => copyOf(member, ancestors, depth + 1));
  } catch {
    return "[unreadable]";
  } finally {
    ancestors.delete(value);
  }
}

function copyMembers(value: object, convert: (member: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map(convert);
  const own = ownForm(value);
  if (own !== value) return convert(own);
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    try {
      const member = convert((value as Record<string, unknown>)[key]);
      if (member !== undefined) copy[key] = member;
    } catch {
      copy[key] = "[unreadable]";
    }
  }
  return copy;
}

/** The result of the value's own `toJSON`, as for dates; the value if it has none. */
function ownForm(value: object): unknown {
  try {
    const { toJSON } = value as { toJSON?: unknown };
    return typeof toJSON === "function" ? toJSON.call(value, "") : value;
  } catch {
    return value;
  }
}

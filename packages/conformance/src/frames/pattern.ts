import { isJsonObject } from "@tau-agent/rpc-protocol/plain";

/**
 * JSON in which a string may be a matcher: `$string`, `$number`, `$boolean`, `$object`, `$array`, `$any`; `$~text` fits
 * a string that contains the text; `$:text` fits any string in tolerant mode, because the document leaves the wording
 * open, and only a string that contains the text in strict mode; `$text:text` fits content with exactly that text
 * (`$text~:` content that contains it): a string or, for a tolerant reader, blocks; `$=name` fits any string and stores
 * it as `{{name}}` for later lines (`{{folder}}` is predefined). A member that is `$absent` must be missing, one ending
 * in `?` may be. An object fits with exactly its members, unless it has the member `...`. `{"$items":[…]}` fits a list
 * with these items; a tolerant reader ignores their order. In code, a function that returns the problem is a pattern
 * too.
 */
export type Pattern = unknown;

/** The current path within the frame, and whether additional members and other texts are allowed. */
export interface Where {
  readonly path: string;
  readonly isTolerant: boolean;
}

const start: Where = { path: "frame", isTolerant: false };

/** Where a value differs from a pattern, with the path; undefined if it fits. */
export function mismatch(pattern: Pattern, value: unknown, at: Where = start): string | undefined {
  const { path } = at;
  if (typeof pattern === "function") return pattern(value, at);
  if (typeof pattern === "string" && pattern.startsWith("$")) {
    return fits(pattern, value, at.isTolerant)
      ? undefined
      : `${path} is not ${pattern}: ${JSON.stringify(value)}`;
  }
  if (Array.isArray(pattern)) {
    if (!Array.isArray(value) || value.length !== pattern.length) {
      return `${path} has not ${pattern.length} items: ${JSON.stringify(value)}`;
    }
    return first(
      pattern.map((item, index) => mismatch(item, value[index], inside(at, `[${index}]`))),
    );
  }
  if (isJsonObject(pattern) && Array.isArray(pattern.$items)) {
    return at.isTolerant
      ? inAnyOrder(pattern.$items, value, at)
      : mismatch(pattern.$items, value, at);
  }
  if (isJsonObject(pattern)) {
    return isJsonObject(value) ? inMembers(pattern, value, at) : `${path} is no object`;
  }
  return pattern === value || isSameCall(pattern, value, path)
    ? undefined
    : `${path} is not ${JSON.stringify(pattern)}: ${JSON.stringify(value)}`;
}

/** One vendor's call ids have two parts; the second follows the first. */
function isSameCall(pattern: Pattern, value: unknown, path: string): boolean {
  if (typeof pattern !== "string" || typeof value !== "string") return false;
  return /\.(?:toolCallId|id)$/.test(path) && value.startsWith(`${pattern}|`);
}

export function inside(at: Where, step: string): Where {
  return { ...at, path: `${at.path}${step}` };
}

function inAnyOrder(items: readonly Pattern[], value: unknown, at: Where): string | undefined {
  if (!Array.isArray(value)) return `${at.path} is no array`;
  const lacking = items.find((item) => value.every((one) => mismatch(item, one, at) !== undefined));
  return lacking === undefined ? undefined : `${at.path} has no item ${JSON.stringify(lacking)}`;
}

/** Tokens that a vendor wants back with the next request are not part of a protocol. */
const replayTokens: ReadonlySet<string> = new Set([
  "textSignature",
  "thinkingSignature",
  "thoughtSignature",
]);

function inMembers(
  pattern: Record<string, unknown>,
  value: Record<string, unknown>,
  at: Where,
): string | undefined {
  const known = new Set<string>();
  for (const [key, expected] of Object.entries(pattern)) {
    if (key === "...") continue;
    const name = key.replace(/\?$/, "");
    const isThere = Object.hasOwn(value, name);
    if (expected === "$absent") {
      if (isThere) return `${at.path}.${name} is not expected`;
      continue;
    }
    known.add(name);
    if (!isThere) {
      if (key.endsWith("?")) continue;
      return `${at.path}.${name} is missing`;
    }
    const problem = mismatch(expected, value[name], inside(at, `.${name}`));
    if (problem !== undefined) return problem;
  }
  if (at.isTolerant || "..." in pattern) return undefined;
  const extra = Object.keys(value).find((key) => !known.has(key) && !replayTokens.has(key));
  return extra === undefined ? undefined : `${at.path}.${extra} is not expected`;
}

function fits(matcher: string, value: unknown, isTolerant: boolean): boolean {
  if (matcher.startsWith("$text")) return fitsText(matcher, isTolerant ? textOf(value) : value);
  if (/^\$[~:=]/.test(matcher)) {
    if (typeof value !== "string") return false;
    const isOpen = matcher.startsWith("$=") || (isTolerant && matcher.startsWith("$:"));
    return isOpen || value.includes(matcher.slice(2));
  }
  switch (matcher) {
    case "$any":
      return true;
    case "$array":
      return Array.isArray(value);
    case "$object":
      return isJsonObject(value);
    default:
      return typeof value === matcher.slice(1);
  }
}

function fitsText(matcher: string, value: unknown): boolean {
  const [, isPart, wanted = ""] = /^\$text(~?):(.*)$/s.exec(matcher) ?? [];
  if (typeof value !== "string") return false;
  return isPart === "~" ? value.includes(wanted) : value === wanted;
}

function textOf(content: unknown): unknown {
  if (!Array.isArray(content)) return content;
  return content.map((block) => (isJsonObject(block) ? (block.text ?? "") : "")).join("");
}

/** The pattern with each `{{name}}` replaced by the string stored under that name. */
export function fillIn(pattern: Pattern, kept: ReadonlyMap<string, string>): Pattern {
  if (typeof pattern === "string") {
    return pattern.replace(/\{\{(\w+)\}\}/g, (whole, name: string) => kept.get(name) ?? whole);
  }
  if (Array.isArray(pattern)) return pattern.map((item) => fillIn(item, kept));
  if (!isJsonObject(pattern)) return pattern;
  return Object.fromEntries(
    Object.entries(pattern).map(([key, value]) => [key, fillIn(value, kept)]),
  );
}

/** Stores the strings that match `$=name` in a fitting pattern. */
export function keep(pattern: Pattern, value: unknown, kept: Map<string, string>): void {
  if (typeof pattern === "string" && pattern.startsWith("$=")) {
    kept.set(pattern.slice(2), String(value));
  } else if (Array.isArray(pattern) && Array.isArray(value)) {
    for (const [index, item] of pattern.entries()) keep(item, value[index], kept);
  } else if (isJsonObject(pattern) && isJsonObject(value)) {
    for (const [key, item] of Object.entries(pattern)) keep(item, value[key], kept);
  }
}

const first = (problems: readonly (string | undefined)[]) =>
  problems.find((problem) => problem !== undefined);

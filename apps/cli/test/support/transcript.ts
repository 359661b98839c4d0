import { readdirSync, readFileSync } from "node:fs";
import type { Turn } from "@tau-agent/ai/testing";

/** What a transcript needs before its first line. */
export interface TranscriptSetup {
  readonly title: string;
  /** Ids of `requirements.ts` that this transcript shows. */
  readonly requirements: readonly string[];
  readonly scenario?: readonly (Turn | string)[];
  /** Files beside the project, by path; models.json of the user is `agent/models.json`. */
  readonly files?: Readonly<Record<string, string>>;
  readonly arguments?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Extensions of the user, by their names in `conformance/extensions`. */
  readonly extensions?: readonly string[];
  /** The scripted model is this module of `conformance/models`, not `scenario`. */
  readonly model?: string;
}

/** One line of a transcript. */
export type Step =
  | { readonly kind: "send"; readonly line: string; readonly at: number }
  /** The next frame is this one, or any number of frames are, or one of those that come is. */
  | {
      readonly kind: "expect";
      readonly frame: Pattern;
      readonly count: "once" | "any" | "until";
      readonly at: number;
    };

/** A transcript: what a client sends and what it must get. */
export interface Transcript extends TranscriptSetup {
  readonly name: string;
  readonly steps: readonly Step[];
}

/**
 * JSON in which a string may be a matcher: `$string`, `$number`, `$boolean`, `$object`, `$array`,
 * `$any`; `$~text` fits a string that contains the text; `$=name` fits a string and keeps it, for
 * `{{name}}` in later lines (`{{folder}}` is there from the start). A member ending in `?` may be
 * missing. An object fits with exactly its members, unless it has the member `...`. In code, a
 * function that returns the problem is a pattern too.
 */
export type Pattern = unknown;

const folder = new URL("../conformance/", import.meta.url);

/** All transcripts of the folder `conformance`. */
export function readTranscripts(): Transcript[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
  return names.sort().flatMap((name) => parse(name, readFileSync(new URL(name, folder), "utf8")));
}

const counts = { "<": "once", "<*": "any", "<<": "until" } as const;

/**
 * `!` begins a transcript, `>` is sent, `<` is expected next, `<*` any number of times, `<<` after any
 * number of other frames.
 */
function parse(name: string, text: string): Transcript[] {
  const transcripts: (TranscriptSetup & { steps: Step[] })[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    const at = index + 1;
    if (line.trim() === "" || line.startsWith("#")) continue;
    const [, sign, rest = ""] = /^(!|>|<\*|<<|<) ?(.*)$/.exec(line) ?? [];
    if (sign === undefined) throw new SyntaxError(`${name}:${at}: begins with none of ! > < <* <<`);
    if (sign === "!") transcripts.push({ ...(JSON.parse(rest) as TranscriptSetup), steps: [] });
    else if (sign === ">") transcripts.at(-1)?.steps.push({ kind: "send", line: rest, at });
    else {
      const frame: Pattern = JSON.parse(rest);
      const count = counts[sign as keyof typeof counts];
      transcripts.at(-1)?.steps.push({ kind: "expect", frame, count, at });
    }
  }
  return transcripts.map((transcript) => ({ ...transcript, name: `${name}: ${transcript.title}` }));
}

/** Where a value differs from a pattern, as a path; undefined when it fits. */
export function mismatch(pattern: Pattern, value: unknown, path = "frame"): string | undefined {
  if (typeof pattern === "function") return pattern(value, path);
  if (typeof pattern === "string" && pattern.startsWith("$")) {
    return fits(pattern, value) ? undefined : `${path} is not ${pattern}: ${JSON.stringify(value)}`;
  }
  if (Array.isArray(pattern)) {
    if (!Array.isArray(value) || value.length !== pattern.length) {
      return `${path} has not ${pattern.length} items: ${JSON.stringify(value)}`;
    }
    return first(pattern.map((item, index) => mismatch(item, value[index], `${path}[${index}]`)));
  }
  if (isRecord(pattern))
    return isRecord(value) ? inMembers(pattern, value, path) : `${path} is no object`;
  return pattern === value
    ? undefined
    : `${path} is not ${JSON.stringify(pattern)}: ${JSON.stringify(value)}`;
}

function inMembers(
  pattern: Record<string, unknown>,
  value: Record<string, unknown>,
  path: string,
): string | undefined {
  const known = new Set<string>();
  for (const [key, expected] of Object.entries(pattern)) {
    if (key === "...") continue;
    const name = key.replace(/\?$/, "");
    known.add(name);
    if (!Object.hasOwn(value, name)) {
      if (key.endsWith("?")) continue;
      return `${path}.${name} is missing`;
    }
    const problem = mismatch(expected, value[name], `${path}.${name}`);
    if (problem !== undefined) return problem;
  }
  const extra = Object.keys(value).find((key) => !known.has(key));
  return extra === undefined || "..." in pattern ? undefined : `${path}.${extra} is not expected`;
}

function fits(matcher: string, value: unknown): boolean {
  if (matcher.startsWith("$~"))
    return typeof value === "string" && value.includes(matcher.slice(2));
  if (matcher.startsWith("$=")) return typeof value === "string";
  switch (matcher) {
    case "$any":
      return true;
    case "$array":
      return Array.isArray(value);
    case "$object":
      return isRecord(value);
    default:
      return typeof value === matcher.slice(1);
  }
}

/** The pattern with `{{name}}` replaced by what was kept under that name. */
export function fillIn(pattern: Pattern, kept: ReadonlyMap<string, string>): Pattern {
  if (typeof pattern === "string") {
    return pattern.replace(/\{\{(\w+)\}\}/g, (whole, name: string) => kept.get(name) ?? whole);
  }
  if (Array.isArray(pattern)) return pattern.map((item) => fillIn(item, kept));
  if (!isRecord(pattern)) return pattern;
  return Object.fromEntries(
    Object.entries(pattern).map(([key, value]) => [key, fillIn(value, kept)]),
  );
}

/** Keeps the strings that stand where a fitting pattern has `$=name`. */
export function keep(pattern: Pattern, value: unknown, kept: Map<string, string>): void {
  if (typeof pattern === "string" && pattern.startsWith("$=")) {
    kept.set(pattern.slice(2), String(value));
  } else if (Array.isArray(pattern) && Array.isArray(value)) {
    for (const [index, item] of pattern.entries()) keep(item, value[index], kept);
  } else if (isRecord(pattern) && isRecord(value)) {
    for (const [key, item] of Object.entries(pattern)) keep(item, value[key], kept);
  }
}

const first = (problems: readonly (string | undefined)[]) =>
  problems.find((problem) => problem !== undefined);

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

import { readdirSync, readFileSync } from "node:fs";
import type { Turn } from "@tau-agent/ai/testing";
import type { Pattern } from "../frames/pattern.ts";
import { dataFolder } from "./data-folder.ts";
import { documentOf } from "./requirements.ts";

export interface TranscriptSetup {
  readonly title: string;
  /** Ids of `requirements.ts` that this transcript shows as a whole; `@` names those of its parts. */
  readonly requirements?: readonly string[];
  /** The dialects it is played in. Default `pi` alone. */
  readonly dialects?: readonly string[];
  /** `tau` when it uses what no document has; other hosts are not held to it. */
  readonly scope?: "tau";
  readonly scenario?: readonly (Turn | string)[];
  /** Files beside the project, by path; models.json of the user is `agent/models.json`. */
  readonly files?: Readonly<Record<string, string>>;
  readonly arguments?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Extensions of the user, by their names in `conformance/extensions`. */
  readonly extensions?: readonly string[];
  /** The scripted model is this module of `conformance/models`, not `scenario`. */
  readonly model?: string;
  /** The project is a git repository in which its files are committed. */
  readonly git?: boolean;
}

export type Step =
  | { readonly kind: "send"; readonly line: string; readonly at: number }
  /** What the following lines show. */
  | { readonly kind: "part"; readonly requirements: readonly string[]; readonly at: number }
  /** The next frame is this one, or any number of frames are, or one of those that come is. */
  | {
      readonly kind: "expect";
      readonly frame: Pattern;
      readonly count: "once" | "any" | "until";
      readonly at: number;
    };

/** A transcript in one dialect: what a client sends and what it must get. */
export interface Transcript extends TranscriptSetup {
  /** File and title. */
  readonly name: string;
  readonly dialect: string;
  /** All ids, those of its parts too. */
  readonly requirements: readonly string[];
  readonly steps: readonly Step[];
}

export function readTranscripts(): Transcript[] {
  const folder = new URL("transcripts/", dataFolder);
  const names = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
  return names
    .sort()
    .flatMap((name) => parseTranscripts(name, readFileSync(new URL(name, folder), "utf8")));
}

const counts = { "<": "once", "<*": "any", "<<": "until" } as const;

/**
 * `!` begins a transcript, `@` a part of it with what that part shows; `>` is sent, `<` is expected
 * next, `<*` any number of times, `<<` after any number of other frames.
 */
function parseTranscripts(file: string, text: string): Transcript[] {
  const transcripts: (TranscriptSetup & { steps: Step[] })[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    const at = index + 1;
    if (line.trim() === "" || line.startsWith("#")) continue;
    const [, sign = "", rest = ""] = /^(!|@|>|<\*|<<|<) ?(.*)$/.exec(line) ?? [];
    if (sign === "!") transcripts.push({ ...(JSON.parse(rest) as TranscriptSetup), steps: [] });
    else transcripts.at(-1)?.steps.push(readStep(sign, rest, { file, at }));
  }
  return transcripts.flatMap((transcript) => inEachDialect(transcript, file));
}

function readStep(sign: string, rest: string, { file, at }: { file: string; at: number }): Step {
  if (sign === ">") return { kind: "send", line: rest, at };
  if (sign === "@") return { kind: "part", requirements: rest.split(/,\s*/), at };
  if (sign in counts) {
    const frame: Pattern = JSON.parse(rest);
    return { kind: "expect", frame, count: counts[sign as keyof typeof counts], at };
  }
  throw new SyntaxError(`${file}:${at}: begins with none of ! @ > < <* <<`);
}

function inEachDialect(
  transcript: TranscriptSetup & { readonly steps: readonly Step[] },
  file: string,
): Transcript[] {
  const { dialects = ["pi"], title, steps, requirements: whole = [] } = transcript;
  const parts = steps.flatMap((step) => (step.kind === "part" ? step.requirements : []));
  const all = [...new Set([...whole, ...parts])];
  return dialects.map((dialect) => ({
    ...transcript,
    dialect,
    requirements: inDocument(all, dialect),
    name: `${file}: ${title}${dialects.length > 1 ? ` (${dialect})` : ""}`,
  }));
}

/** Of the ids, those of the dialect's own document; all of them when there are none. */
function inDocument(ids: readonly string[], dialect: string): readonly string[] {
  const own = ids.filter((id) => documentOf(id) === dialect);
  return own.length === 0 ? ids : [...own, ...ids.filter((id) => documentOf(id) === undefined)];
}

/** The ids of a transcript by what a deviation at some line says about them. */
export function judge(
  { steps, requirements }: Transcript,
  line: number | undefined,
): Record<"holds" | "fails" | "notReached", string[]> {
  const parts = steps.filter((step) => step.kind === "part");
  const failing = line === undefined ? -1 : parts.findLastIndex(({ at }) => at < line);
  const partOf = (id: string) => parts.findIndex((part) => part.requirements.includes(id));
  const isBefore = (id: string) => partOf(id) !== -1 && partOf(id) < failing;
  const isAfter = (id: string) => partOf(id) !== -1 && partOf(id) > failing && line !== undefined;
  return {
    holds: requirements.filter(isBefore),
    fails: requirements.filter((id) => !isBefore(id) && !isAfter(id)),
    notReached: requirements.filter(isAfter),
  };
}

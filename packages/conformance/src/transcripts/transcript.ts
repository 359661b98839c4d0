import { readdirSync, readFileSync } from "node:fs";
import type { Turn } from "@tau-agent/ai/testing";
import type { Pattern } from "../frames/pattern.ts";
import { dataFolder } from "./data-folder.ts";
import { documentOf } from "./requirements.ts";

export interface TranscriptSetup {
  readonly title: string;
  /** Ids of `requirements.ts` that the whole transcript shows; lines with `@` name those of its parts. */
  readonly requirements?: readonly string[];
  /** The dialects in which it is played. Default: `pi` only. */
  readonly dialects?: readonly string[];
  /** `tau` if it uses features of no document; they are not required of other hosts. */
  readonly scope?: "tau";
  readonly scenario?: readonly (Turn | string)[];
  /** Files in addition to the project's, by path; the user's models.json is `agent/models.json`. */
  readonly files?: Readonly<Record<string, string>>;
  readonly arguments?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** The user's extensions, by their names in `conformance/extensions`. */
  readonly extensions?: readonly string[];
  /** A module of `conformance/models` that is the scripted model, instead of `scenario`. */
  readonly model?: string;
  /** Whether the project is a git repository with its files committed. */
  readonly git?: boolean;
}

export type Step =
  | { readonly kind: "send"; readonly line: string; readonly at: number }
  /** The statements that the following lines show. */
  | { readonly kind: "part"; readonly requirements: readonly string[]; readonly at: number }
  /** `once`: the next frame fits. `any`: any number of frames fit. `until`: one of the coming frames fits. */
  | {
      readonly kind: "expect";
      readonly frame: Pattern;
      readonly count: "once" | "any" | "until";
      readonly at: number;
    };

/** A transcript in one dialect: the lines that a client sends and the frames that it must receive. */
export interface Transcript extends TranscriptSetup {
  /** The file and the title. */
  readonly name: string;
  readonly dialect: string;
  /** All ids, including those of its parts. */
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
 * `!` begins a transcript, and `@` a part of it with the statements that the part shows. `>` marks
 * a line that the client sends. `<` marks the next expected frame, `<*` any number of such frames,
 * and `<<` a frame after any number of others.
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

/** The ids that belong to the dialect's document or to no document; all ids if none belongs to the document. */
function inDocument(ids: readonly string[], dialect: string): readonly string[] {
  const own = ids.filter((id) => documentOf(id) === dialect);
  return own.length === 0 ? ids : [...own, ...ids.filter((id) => documentOf(id) === undefined)];
}

/** The transcript's ids, sorted by what a deviation at a line says about them. */
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

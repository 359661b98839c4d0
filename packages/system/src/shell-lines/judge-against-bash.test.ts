import fc from "fast-check";
import { expect, it } from "vitest";
import { describeWith } from "../../../../scripts/testing/describe-with.ts";
import { sliceSize } from "../../../../scripts/testing/slice.ts";
import { bubblewrapIsMissing } from "../sandbox/__fixtures__/has-bubblewrap.ts";
import { hiddenCommands } from "./__fixtures__/hidden-commands.ts";
import { randomLine } from "./__fixtures__/random-lines.ts";
import { type BashRun, runInBash } from "./__fixtures__/run-in-bash.ts";
import { typedLines } from "./__fixtures__/typed-lines.ts";
import type { ShellPart } from "./line/shell-line.ts";
import { readShellLine } from "./read-shell-line.ts";

/** The number of lines for bash, always the same lines; `TAU_SHELL_LINES=200000 TAU_SHELL_SEED=…` tries more. */
const lineCount = Number(process.env.TAU_SHELL_LINES ?? sliceSize(1000, 5000));
const firstSeed = Number(process.env.TAU_SHELL_SEED ?? 1);
const batchSize = 1000;

interface UnderstoodLine {
  readonly line: string;
  readonly parts: readonly ShellPart[];
}

it.each(hiddenCommands)("does not understand %j", async (line) => {
  expect(await readShellLine(line)).toMatchObject({ understood: false });
});

it("understands nine of ten lines that agents and people type", async () => {
  const understood = await Promise.all(typedLines.map((line) => understand(line)));
  expect(typedLines.length).toBeGreaterThan(300);
  expect(understood.flat().length / typedLines.length).toBeGreaterThan(0.9);
});

describeWith(bubblewrapIsMissing)("bash", () => {
  it("runs only the commands that the judge names", { timeout: 3_600_000 }, async () => {
    let ran = 0;
    for (let batch = 0; ran < lineCount; batch++) {
      const lines = await understoodLines(
        firstSeed * 10_000 + batch,
        Math.min(batchSize, lineCount - ran),
      );
      const runs = runInBash(
        lines.map(({ line }) => line),
        lines.flatMap(({ parts }) => parts.map(programOf)),
      );
      const surprises = lines.flatMap((line, index) => surprisesIn(line, runs[index]));
      expect(surprises.slice(0, 5)).toEqual([]);
      ran += lines.length;
    }
  });
});

async function understand(line: string): Promise<UnderstoodLine[]> {
  const read = await readShellLine(line);
  return read.understood ? [{ line, parts: read.parts }] : [];
}

async function understoodLines(start: number, count: number): Promise<UnderstoodLine[]> {
  const found = new Map<string, UnderstoodLine>();
  for (let round = 0; found.size < count; round++) {
    for (const line of fc.sample(randomLine, { numRuns: count, seed: start + round * 7919 })) {
      for (const understood of await understand(line)) {
        if (found.size < count && canRun(understood)) found.set(line, understood);
      }
    }
  }
  return [...found.values()];
}

/**
 * Excludes lines that end the sandbox itself, search the whole machine, take a program of the tests for a script,
 * run a program of the machine by its path, or empty the environment so that the machine's programs are found.
 */
function canRun({ line, parts }: UnderstoodLine): boolean {
  const runsFile = parts.some(
    (part) => part.kind === "command" && !part.isWrapper && /(?:^|\/)(?:ba|da)?sh$/.test(part.name),
  );
  const isEmptied = parts.some(
    (part) => part.kind === "command" && /^(?:\S*\/)?(?:env|exec) -/.test(part.text),
  );
  const isOfMachine = parts.some(
    (part) => part.kind === "command" && !part.isWrapper && /^(?:\/|~|.*\.\.\/)/.test(part.name),
  );
  if (runsFile || isEmptied || isOfMachine) return false;
  return !/find\s+["'\\]*\/|\0/.test(line) && !parts.map(programOf).includes("kill");
}

function programOf(part: ShellPart): string {
  const name = part.kind === "write" ? "write" : part.name;
  // A name outside of the test's path cannot be found, but bash still reports it to the DEBUG trap.
  return /^[\w+:@][\w.+:@%,-]*$/.test(name) ? name : "other";
}

/** Everything that bash did beyond the parts of the line. */
function surprisesIn({ line, parts }: UnderstoodLine, run: BashRun | undefined): string[] {
  const commands = parts.flatMap((part) => (part.kind === "command" ? [part.text] : []));
  const writes = parts.flatMap((part) => (part.kind === "write" ? [part.path] : []));
  const hasXargs = line.includes("xargs");
  // Without a command, xargs runs echo.
  const patterns = [...commands, ...(hasXargs ? ["echo"] : [])].map((text) =>
    patternOf(text, hasXargs),
  );
  const programs = run?.programs.map((text) => text.trim()) ?? ["nothing"];
  const unknown = programs.filter((text) => !patterns.some((pattern) => pattern.test(text)));
  const files = run?.files.filter((file) => !writes.some((path) => nameOf(path) === file)) ?? [];
  // Nothing in the grammar repeats a command. A lone redirection does not count.
  const simple = run?.commands.filter((text) => !/^(?:\$')?\d*\\?[<>&]/.test(text)) ?? [];
  const isMore = simple.length > commands.length;
  const shown = `${JSON.stringify(line)} (${parts.map((part) => JSON.stringify(part)).join(" ")})`;
  return [
    ...unknown.map((text) => `${shown} ran ${JSON.stringify(text)}`),
    ...files.map((file) => `${shown} wrote ${JSON.stringify(file)}`),
    ...(isMore ? [`${shown} ran the commands ${JSON.stringify(simple)}`] : []),
  ];
}

/**
 * Matches the words of a program with those of the part; expansions that only the shell can resolve match
 * anything. The words that xargs adds depend on its input.
 */
function patternOf(text: string, isOfXargs: boolean): RegExp {
  const [folder = ""] = /^\S*\/(?=[^/\s]*(?:\s|$))/.exec(text) ?? [];
  const command = text.slice(folder.length);
  // dash treats `time` as a program whose first argument keeps its folder.
  const timed = `(?:(?:time (?:-p )?)+(?:${escaped(folder)})?)?`;
  if (isOfXargs) return new RegExp(`^${timed}${escaped(command.split(" ", 1)[0] ?? "")}(?: |$)`);
  const pieces = command.split(/\$(?:\w+|\{\w+\}|[?!@*])|[*?]|~[+-]?\w*|\{\}|\[[^\]]*\]/);
  return new RegExp(
    `^\\s*${timed}${pieces.map((piece) => escaped(piece.trim())).join("[^]*")}\\s*$`,
  );
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

function nameOf(path: string): string {
  return path.replace(/^(?:\.?\/)+/, "").split("/", 1)[0] ?? "";
}

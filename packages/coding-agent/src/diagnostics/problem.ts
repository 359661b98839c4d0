import type { FileProblem } from "@tau-agent/system";

/** The problems of a file, with its text. */
export interface CheckedText {
  readonly text: string;
  readonly problems: readonly FileProblem[];
}

/**
 * The problems that were not there before. Edits move lines, so problems are matched by message and, if possible, by
 * the text of their line: of two identical messages, the one on a changed line is new.
 */
export function newProblems(before: CheckedText | undefined, after: CheckedText): FileProblem[] {
  if (before === undefined) return [...after.problems];
  const known = before.problems.map((problem) => ({
    ...keysOf(problem, before.text),
    isUsed: false,
  }));
  const found = after.problems.map((problem) => ({ ...keysOf(problem, after.text), problem }));
  const isKnown = (name: "exact" | "loose", key: string): boolean => {
    const one = known.find((each) => !each.isUsed && each[name] === key);
    if (one !== undefined) one.isUsed = true;
    return one !== undefined;
  };
  return found
    .filter(({ exact }) => !isKnown("exact", exact))
    .filter(({ loose }) => !isKnown("loose", loose))
    .map(({ problem }) => problem);
}

function keysOf({ message, code, severity, line }: FileProblem, text: string) {
  const loose = JSON.stringify([severity, code, message]);
  const words = text.split("\n", line)[line - 1]?.trim() ?? "";
  return { loose, exact: `${loose} ${words}` };
}

/** The maximum number of problems in a result. */
const maxShown = 20;

/** The text appended to a tool result. */
export function problemText(problems: readonly FileProblem[]): string {
  const lines = problems
    .slice(0, maxShown)
    .map(({ file, line, column, severity, message, code }) => {
      const place = column === undefined ? `${file}:${line}` : `${file}:${line}:${column}`;
      return [`${place}:`, severity, code, message].filter((part) => part !== undefined).join(" ");
    });
  const rest = problems.length - lines.length;
  return ["New problems:", ...lines, ...(rest > 0 ? [`[${rest} more]`] : [])].join("\n");
}

export function shownProblems(problems: readonly FileProblem[]): readonly FileProblem[] {
  return problems.slice(0, maxShown);
}

const maxMessage = 500;

export function plainMessage(message: string): string {
  const line = message.replace(/\s+/g, " ").trim();
  return line.length > maxMessage ? `${line.slice(0, maxMessage)}…` : line;
}

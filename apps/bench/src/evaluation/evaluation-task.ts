/** A tool call as a model might make it; `FILE` and `FOLDER` in an argument are replaced by the task's paths. */
export interface ScriptedCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The expected outcome: an exact match, a loose match or an error. Default: exact. */
  readonly outcome?: "exact" | "loose" | "refused";
  /** A regular expression for the previous result, whose groups fill `{{1}}`, … in the arguments. */
  readonly after?: string;
}

export interface EvaluationTask {
  readonly name: string;
  readonly language: "typescript" | "python" | "go" | "rust" | "c" | "text";
  readonly form: string;
  readonly fileName: string;
  readonly start: string;
  readonly expected: string;
  /** Other initial files, by path below the task's folder. */
  readonly files?: Readonly<Record<string, string>>;
  /** The prompt for the model; `FILE` is the path of the file, `FOLDER` that of the task. */
  readonly task: string;
  /** Tools that must be called for the task to count as solved. */
  readonly uses?: readonly string[];
  readonly scripted: readonly ScriptedCall[];
  /** The answers of subagents, by a text in their task. */
  readonly subagents?: Readonly<Record<string, string>>;
}

export function lines(...all: readonly string[]): string {
  return all.map((line) => `${line}\n`).join("");
}

/** A text with some parts replaced; each part must occur exactly once. */
export function changed(text: string, changes: readonly (readonly [string, string])[]): string {
  return changes.reduce((current, [from, to]) => {
    const pieces = current.split(from);
    if (pieces.length !== 2) throw new Error(`${JSON.stringify(from)} is not in the file once`);
    return pieces.join(to);
  }, text);
}

export function edit(
  oldText: string,
  newText: string,
  outcome: ScriptedCall["outcome"] = "exact",
): ScriptedCall {
  return { name: "edit", arguments: { path: "FILE", oldText, newText }, outcome };
}

export const readFile: ScriptedCall = { name: "read", arguments: { path: "FILE" } };

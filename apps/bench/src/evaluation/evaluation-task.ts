/** A call as a model might make it; `FILE` and `FOLDER` in an argument are those of the task. */
export interface ScriptedCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** What becomes of it: an exact or a loose match, or an error. Default exact. */
  readonly outcome?: "exact" | "loose" | "refused";
  /** An expression that the last result matches, whose groups fill `{{1}}`, … in the arguments. */
  readonly after?: string;
}

export interface EvaluationTask {
  readonly name: string;
  readonly language: "typescript" | "python" | "go" | "rust" | "c" | "text";
  readonly form: string;
  readonly fileName: string;
  readonly start: string;
  readonly expected: string;
  /** What else is there at the start, by paths below the folder of the task. */
  readonly files?: Readonly<Record<string, string>>;
  /** What the model is asked to do; `FILE` is the path of the file, `FOLDER` that of the task. */
  readonly task: string;
  /** Tools without which it does not count as solved. */
  readonly uses?: readonly string[];
  readonly scripted: readonly ScriptedCall[];
  /** What subagents answer, by what is in their task. */
  readonly subagents?: Readonly<Record<string, string>>;
}

export function lines(...all: readonly string[]): string {
  return all.map((line) => `${line}\n`).join("");
}

/** A text with some parts replaced; each must be in it once. */
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

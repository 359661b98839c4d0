/** A call as a model might make it; `FILE` in an argument is the file of the task. */
export interface ScriptedCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** What becomes of it: an exact or a loose match, or an error. Default exact. */
  readonly outcome?: "exact" | "loose" | "refused";
}

export interface EditTask {
  readonly name: string;
  readonly language: "typescript" | "python" | "go" | "rust" | "c";
  readonly form: string;
  readonly fileName: string;
  readonly start: string;
  readonly expected: string;
  /** What the model is asked to do; `FILE` is the path. */
  readonly task: string;
  readonly scripted: readonly ScriptedCall[];
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

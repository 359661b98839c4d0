import type { CommandReading, LineReading } from "../line/line-reading.ts";
import type { ShellWord } from "../line/shell-word.ts";
import { readerOf } from "./readers.ts";

/** Wrappers that change nothing about what the other command writes. */
const harmlessWrappers: ReadonlySet<string> = new Set([
  ...["builtin", "command", "env", "eval", "ionice", "nice", "stdbuf", "time", "timeout"],
]);

export function onlyReads({ reason, traits, parts }: LineReading): boolean {
  if (reason !== undefined || traits.size > 0) return false;
  let mayGetMore = false;
  for (const part of parts) {
    if (part.kind === "write") return false;
    const name = nameOf(part.words);
    if (part.isWrapper) {
      if (!isHarmless(name, part)) return false;
      continue;
    }
    const reader = readerOf(name);
    // What xargs adds may be an option.
    if (reader === undefined || (mayGetMore && reader.accepts !== undefined)) return false;
    if (reader.accepts?.(part.words.slice(1)) === false) return false;
    mayGetMore = name === "xargs";
  }
  return true;
}

/** The name of a program of the system; what another folder has under this name is not known. */
function nameOf([first]: readonly ShellWord[]): string {
  return (first?.text ?? "").replace(/^\/(?:usr\/)?bin\//, "");
}

function isHarmless(name: string, { words }: CommandReading): boolean {
  // As a login shell, it would run files of the user first.
  if (/^(?:ba|da|z)?sh$/.test(name)) return words[1]?.text === "-c";
  return harmlessWrappers.has(name);
}

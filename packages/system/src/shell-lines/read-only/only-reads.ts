import type { CommandReading, LineReading } from "../line/line-reading.ts";
import type { ShellWord } from "../line/shell-word.ts";
import { readerOf } from "./readers.ts";

/** Wrappers that do not affect what the other command writes. */
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
    // A word that xargs adds may be an option.
    if (reader === undefined || (mayGetMore && reader.accepts !== undefined)) return false;
    if (reader.accepts?.(part.words.slice(1)) === false) return false;
    mayGetMore = name === "xargs";
  }
  return true;
}

/** The name of a system program; a program with the same name in another folder is unknown. */
function nameOf([first]: readonly ShellWord[]): string {
  return (first?.text ?? "").replace(/^\/(?:usr\/)?bin\//, "");
}

function isHarmless(name: string, { words }: CommandReading): boolean {
  // A login shell would first run files of the user.
  if (/^(?:ba|da|z)?sh$/.test(name)) return words[1]?.text === "-c";
  return harmlessWrappers.has(name);
}

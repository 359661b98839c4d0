import { type CommandEffect, type FoundCommand, unknownEffect } from "./effect.ts";
import { skipOptions } from "./options.ts";

/** `flock` takes a file and a command. With `-c`, the user's own shell runs the line. */
export function flockEffect({ words, ...origin }: FoundCommand): CommandEffect {
  const start = skipOptions(words, 1, { flags: "sxeunoFv", valued: "wE" });
  const [file, command] = start === undefined ? [] : words.slice(start);
  if (start === undefined || file?.isOpen !== false || command?.text.startsWith("-")) {
    return unknownEffect("flock");
  }
  return { commands: [{ ...origin, words: words.slice(start + 1) }] };
}

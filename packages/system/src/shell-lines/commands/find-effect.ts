import type { ShellWord } from "../line/shell-word.ts";
import { type CommandEffect, type FoundCommand, filledIn, unknownEffect } from "./effect.ts";

const runs = new Set(["-exec", "-execdir", "-ok", "-okdir"]);

export function findEffect({ words, isContinued }: FoundCommand): CommandEffect {
  const commands: FoundCommand[] = [];
  if (isContinued) return unknownEffect("find");
  for (let index = 1; index < words.length; index++) {
    const word = words[index];
    if (word === undefined || word.isOpen) return unknownEffect("find");
    if (!runs.has(word.text)) continue;
    const end = endOfCommand(words, index + 1);
    if (end === undefined) return unknownEffect("find");
    commands.push({ words: filledIn(words.slice(index + 1, end), "{}") });
    index = end;
  }
  return { commands };
}

function endOfCommand(words: readonly ShellWord[], start: number): number | undefined {
  for (let index = start + 1; index < words.length; index++) {
    const text = words[index]?.text;
    if (text === ";" || (text === "+" && words[index - 1]?.text === "{}")) return index;
  }
  return undefined;
}

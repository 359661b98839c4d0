import type { ShellWord } from "../line/shell-word.ts";
import { type CommandEffect, type FoundCommand, unknownEffect } from "./effect.ts";

const shells: ReadonlySet<string> = new Set([
  "ash",
  "bash",
  "csh",
  "dash",
  "fish",
  "ksh",
  "mksh",
  "sh",
  "tcsh",
  "zsh",
]);

/** Whether a program, by its base name, is a shell. */
export function isShell(program: string): boolean {
  return shells.has(program);
}

/** The line of `sh -c`. A shell that runs a file is a program like any other. */
export function shellEffect(name: string, { words }: FoundCommand): CommandEffect {
  const options = readOptions(words);
  if (options === undefined) return unknownEffect(name);
  const operand = words[options.end];
  if (operand === undefined || operand.text === "-" || isInput.test(operand.text)) {
    return { reason: "it runs a shell that reads its commands" };
  }
  return options.takesLine ? { isWrapper: true, line: operand } : {};
}

const isInput = /^\/dev\/(?:stdin|fd\/|tty)|^\/proc\//;

const longOptions: ReadonlySet<string> = new Set([
  "--login",
  "--noediting",
  "--noprofile",
  "--norc",
  "--posix",
  "--restricted",
  "--verbose",
]);

interface ShellOptions {
  readonly end: number;
  readonly takesLine: boolean;
}

function readOptions(words: readonly ShellWord[]): ShellOptions | undefined {
  let takesLine = false;
  let end = 1;
  for (let word = words[end]; word !== undefined; word = words[end]) {
    if (word.isOpen || (!word.isLiteral && /^[-+]/.test(word.text))) return undefined;
    if (!/^[-+]./.test(word.text)) break;
    end += 1;
    if (word.text === "--") break;
    if (longOptions.has(word.text)) continue;
    const cluster = /^[-+]([abcefhlmnoruvxBCEHOPT]+)$/.exec(word.text)?.[1];
    if (cluster === undefined) return undefined;
    takesLine ||= cluster.includes("c");
    // Each o and O takes the name of an option from the words that follow.
    end += cluster.replace(/[^oO]/g, "").length;
  }
  return { end, takesLine };
}

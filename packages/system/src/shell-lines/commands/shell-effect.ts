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

/** Shells for which the lines of the grammar mean the same as for bash. */
const likeBash: ReadonlySet<string> = new Set(["bash", "dash", "sh"]);

export function isShell(program: string): boolean {
  return shells.has(program);
}

/** The effect of `sh -c`. A shell that runs a file is a program like any other. */
export function shellEffect(name: string, { words }: FoundCommand): CommandEffect {
  const options = readOptions(words);
  if (options === undefined) return unknownEffect(name);
  const operand = words[options.end];
  if (operand === undefined || isInput.test(operand.text)) {
    return { reason: "it runs a shell that reads its commands" };
  }
  if (!options.takesLine) return {};
  return likeBash.has(name) ? { isWrapper: true, line: operand } : unknownEffect(name);
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
    // dash takes a lone `+` as an option, with the line after it.
    if (!/^[-+]/.test(word.text)) break;
    end += 1;
    if (word.text === "--") break;
    if (longOptions.has(word.text)) continue;
    const cluster = /^-([celouvx]+)$/.exec(word.text)?.[1];
    if (cluster === undefined) return undefined;
    takesLine ||= cluster.includes("c");
    // Each `o` takes the name of an option from the following words.
    for (const _ of cluster.replace(/[^o]/g, "")) {
      if (!/^(?:errexit|nounset|pipefail)$/.test(words[end]?.text ?? "")) return undefined;
      end += 1;
    }
  }
  return { end, takesLine };
}

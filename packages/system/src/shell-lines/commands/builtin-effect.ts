import type { ShellWord } from "../line/shell-word.ts";
import { type CommandEffect, type FoundCommand, unknownEffect } from "./effect.ts";

type Words = readonly ShellWord[];

/** Whether a builtin with these words evaluates no word a second time and sets no variable. */
type IsPlain = (words: Words) => boolean;

const always: IsPlain = () => true;

/** The builtins of bash that may be used, with conditions on their words; without a condition, any words. */
const plainBuiltins: ReadonlyMap<string, IsPlain> = new Map<string, IsPlain>([
  ...[
    ":",
    "cd",
    "dirs",
    "echo",
    "exit",
    "false",
    "kill",
    "popd",
    "pushd",
    "pwd",
    "true",
    "type",
  ].map((name) => [name, always] as const),
  ["printf", isPlainPrintf],
  ["test", isPlainTest],
  ["[", (words) => words.at(-1)?.text === "]" && isPlainTest(words.slice(0, -1))],
  ["wait", (words) => words.every(({ text }) => /^(?:\d+|\$!)$/.test(text))],
]);

/** All other builtins: they set variables, run text as commands, or evaluate words as arithmetic. */
const otherBuiltins: ReadonlySet<string> = new Set([
  ...[".", "alias", "bg", "bind", "break", "caller", "compgen", "complete", "compopt", "continue"],
  ...["declare", "disown", "enable", "eval", "export", "fc", "fg", "getopts", "hash", "help"],
  ...["history", "jobs", "let", "local", "logout", "mapfile", "read", "readarray", "readonly"],
  ...["return", "set", "shift", "shopt", "source", "suspend", "times", "trap", "typeset", "ulimit"],
  ...["umask", "unalias", "unset"],
]);

const moving: ReadonlySet<string> = new Set(["cd", "pushd", "popd"]);

export function builtinEffect({ words, isContinued }: FoundCommand): CommandEffect | undefined {
  const [name, ...rest] = words;
  const builtin = name?.text ?? "";
  if (otherBuiltins.has(builtin))
    return { reason: `${builtin} is not among the builtins that are judged` };
  const isPlain = plainBuiltins.get(builtin);
  if (isPlain === undefined) return undefined;
  if (!isPlain(rest) || (isContinued && isPlain !== always)) return unknownEffect(builtin);
  return { moves: moving.has(builtin) };
}

/** `-v` and `%n` set a variable. Other shells evaluate numbers as arithmetic. */
function isPlainPrintf([format, ...values]: Words): boolean {
  if (format?.isLiteral !== true || format.text.startsWith("-")) return false;
  return !/%[^%A-Za-z]*[hlLjzt]*n/.test(format.text) && values.every(isPlainOperand);
}

/** Contains no substitution, which the shell would run when it evaluates the text. */
function isPlainOperand({ text, isLiteral }: ShellWord): boolean {
  return !isLiteral || !/\$\(|`/.test(text);
}

const unary = /^-[a-hknoprstuwxzGLNOS]$/;
const binary = /^(?:=|==|!=|-nt|-ot|-ef|-eq|-ne|-lt|-le|-gt|-ge)$/;
const numeric = /^-(?:eq|ne|lt|le|gt|ge)$/;

/** A test of one or two operands, each a single word. Never `-v` and `-R`, which evaluate their operands. */
function isPlainTest(words: Words): boolean {
  const [first, second, third] = words;
  if (words.length > 2 && first?.text === "!" && first.isLiteral)
    return isPlainTest(words.slice(1));
  if (!words.every((word) => !word.maySplit && isPlainOperand(word))) return false;
  if (words.length === 2) return first?.isLiteral === true && unary.test(first.text);
  if (words.length !== 3 || second?.isLiteral !== true || !binary.test(second.text)) return false;
  return !numeric.test(second.text) || [first, third].every((word) => word && isNumber(word));
}

function isNumber({ text, isLiteral }: ShellWord): boolean {
  return isLiteral ? /^-?\d+$/.test(text) : /^\$/.test(text);
}

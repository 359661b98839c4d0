import { assignmentHazard, secondEvaluation } from "../line/hazards.ts";
import { literalWord } from "../line/shell-word.ts";
import { type CommandEffect, type FoundCommand, unknownEffect } from "./effect.ts";
import { skipOptions } from "./options.ts";

/** `eval` joins its words and reads them as a line. */
function evalEffect({ words, isContinued }: FoundCommand): CommandEffect {
  const given = words.slice(1);
  if (isContinued || !given.every((word) => word.isLiteral)) {
    return { reason: "it evaluates text that only the shell knows" };
  }
  const line = literalWord(given.map((word) => word.text).join(" "));
  return { isWrapper: given.length > 0, line };
}

/** `trap` keeps a line for later. */
function trapEffect({ words }: FoundCommand): CommandEffect {
  const [, first, second] = words;
  if (first === undefined || /^-[lpP]/.test(first.text)) return {};
  const line = first.text === "--" ? second : first;
  return line?.text === "-" ? {} : { isWrapper: true, line, isDeferred: true };
}

/** `flock` takes a file and a command, or a file and `-c` with a line. */
function flockEffect({ words, ...origin }: FoundCommand): CommandEffect {
  const start = skipOptions(words, 1, { flags: "sxeunoFv", valued: "wE" });
  if (start === undefined) return unknownEffect("flock");
  const [, command, line] = words.slice(start);
  if (command?.text === "-c" || command?.text === "--command") {
    return line === undefined ? unknownEffect("flock") : { line };
  }
  return { commands: [{ ...origin, words: words.slice(start + 1) }] };
}

function hashEffect({ words }: FoundCommand): CommandEffect {
  const isReplacing = words.slice(1).some(({ text }) => /^-\w*p/.test(text));
  return { reason: isReplacing ? "it replaces the path of a command" : undefined };
}

/** Builtins that read a word as arithmetic, or as a variable with a subscript. */
function testEffect({ words }: FoundCommand): CommandEffect {
  return { reason: secondEvaluation(words.map((word) => word.text)) };
}

/** Builtins that set variables whose names are among their words. */
function variableEffect({ words }: FoundCommand): CommandEffect {
  const [builtin = "", ...texts] = words.map((word) => word.text);
  if (builtin === "printf" && texts[0]?.startsWith("-v") !== true) return {};
  const names = texts.map((text) => text.replace(/^-v(?=.)/, "").split(/\+?=|\[/, 1)[0] ?? "");
  const options = texts.filter((text) => /^[-+]/.test(text)).join("");
  const reasons = [
    ...names.map(assignmentHazard),
    secondEvaluation(texts),
    words.some((word) => word.isOpen) ? "it sets a variable that only the shell knows" : undefined,
    /^(?:declare|typeset|local)$/.test(builtin) && options.includes("n")
      ? "it gives a variable a second name"
      : undefined,
    /^(?:mapfile|readarray)$/.test(builtin) && options.includes("C")
      ? `${builtin} runs another command`
      : undefined,
  ];
  return { assigns: true, reason: reasons.find((reason) => reason !== undefined) };
}

const moves = (): CommandEffect => ({ moves: true });
const setsVariables = ["declare", "export", "getopts", "let", "local", "mapfile", "printf", "read"];

/** Commands that change what the rest of the line does, or run text as a line. */
export const builtinEffects: ReadonlyMap<string, (command: FoundCommand) => CommandEffect> =
  new Map<string, (command: FoundCommand) => CommandEffect>([
    ["eval", evalEffect],
    ["trap", trapEffect],
    ["flock", flockEffect],
    ["hash", hashEffect],
    ["test", testEffect],
    ["[", testEffect],
    ...["cd", "pushd", "popd"].map((name) => [name, moves] as const),
    ...[...setsVariables, "readarray", "readonly", "typeset", "unset", "wait"].map(
      (name) => [name, variableEffect] as const,
    ),
  ]);

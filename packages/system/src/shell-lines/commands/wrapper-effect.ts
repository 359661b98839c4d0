import type { ShellWord } from "../line/shell-word.ts";
import { isHarmlessAssignment } from "../scan/harmless-assignment.ts";
import { type CommandEffect, type FoundCommand, filledIn, unknownEffect } from "./effect.ts";
import { skipOptions } from "./options.ts";
import type { WrapperRow } from "./wrappers.ts";

export function wrapperEffect(
  name: string,
  row: WrapperRow,
  { words, ...origin }: FoundCommand,
): CommandEffect {
  if (row.lookUps?.test(words[1]?.text ?? "")) return {};
  const options = skipOptions(words, 1, row);
  if (options === undefined) return unknownEffect(name);
  const operands = options + (row.operands ?? 0);
  if (!words.slice(options, operands).every((word) => word.isLiteral)) return unknownEffect(name);
  const assigned = row.takesAssignments ? readAssignments(words, operands) : { end: operands };
  const rest = words.slice(assigned.end);
  const inner =
    name === "xargs" ? xargsCommand(words.slice(1, options), rest) : { ...origin, words: rest };
  return {
    isWrapper: row.isOwnCommand !== true && rest.length > 0,
    reason: assigned.reason,
    // Without a command, xargs runs echo.
    commands: name === "xargs" && rest.length === 0 && !origin.isContinued ? [] : [inner],
    assigns: assigned.end > operands,
  };
}

interface Assignments {
  /** The index of the first word that is not an option. */
  readonly end: number;
  readonly reason?: string | undefined;
}

function readAssignments(words: readonly ShellWord[], start: number): Assignments {
  let reason: string | undefined;
  let end = words[start]?.text === "-" ? start + 1 : start;
  for (let word = words[end]; word !== undefined; word = words[++end]) {
    // `env` takes every word with an equals sign as an assignment.
    if (!word.text.includes("=") || word.isOpen) break;
    if (!isHarmlessAssignment(word)) reason ??= "it assigns to a variable";
  }
  return { end, reason };
}

/** The command of `xargs`: its input is appended, or replaces the placeholder. */
function xargsCommand(options: readonly ShellWord[], words: readonly ShellWord[]): FoundCommand {
  const placeholder = xargsPlaceholder(options.map((word) => word.text));
  if (placeholder === undefined) return { words, isContinued: true };
  return { words: filledIn(words, placeholder) };
}

function xargsPlaceholder(options: readonly string[]): string | undefined {
  for (const [index, text] of options.entries()) {
    const [, letter, attached] = /^-[0rtpxo]*([IJRi])(.*)$/.exec(text) ?? [];
    if (attached) return attached;
    if (letter === "i" || text === "--replace") return "{}";
    if (letter !== undefined) return options[index + 1];
    if (text.startsWith("--replace=")) return text.slice("--replace=".length);
  }
  return undefined;
}

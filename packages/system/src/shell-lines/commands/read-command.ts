import type { LineReading } from "../line/line-reading.ts";
import type { ShellWord } from "../line/shell-word.ts";
import { builtinEffect } from "./builtin-effect.ts";
import type { CommandEffect, FoundCommand } from "./effect.ts";
import { findEffect } from "./find-effect.ts";
import { flockEffect } from "./flock-effect.ts";
import { opaqueReason } from "./opaque-commands.ts";
import { isShell, shellEffect } from "./shell-effect.ts";
import { wrapperEffect } from "./wrapper-effect.ts";
import { wrappers } from "./wrappers.ts";

/** What reading a command needs to know about the line around it. */
export interface CommandContext {
  readonly reading: LineReading;
  /** Reads the line that a command passes to a shell. */
  readonly readText: (text: string) => void;
}

/** `env env env …`: more than this is an attempt to hide something. */
const maxDepth = 16;

/** Adds a simple command, and the commands that it runs, to the parts of the line. */
export function readCommand(command: FoundCommand, context: CommandContext, depth = 0): void {
  const { reading, readText } = context;
  const effect = effectOf(command);
  const { line, commands = [] } = effect;
  reading.command(command.words, effect.isWrapper === true);
  reading.fail(nameReason(command) ?? effect.reason ?? lineReason(line));
  if (effect.moves) reading.moves();
  if (effect.assigns) reading.traits.add("assignment");
  if (line?.isLiteral) readText(line.text);
  if (commands.length > 0 && depth === maxDepth) reading.fail("it nests too many commands");
  else for (const inner of commands) readInner(inner, context, depth + 1);
}

function readInner(command: FoundCommand, context: CommandContext, depth: number): void {
  if (command.words.length > 0) readCommand(command, context, depth);
  else if (command.isContinued) context.reading.fail("xargs makes up the command that runs");
}

function effectOf(command: FoundCommand): CommandEffect {
  const path = command.words[0]?.text ?? "";
  const program = path.slice(path.lastIndexOf("/") + 1);
  const wrapper = wrappers.get(program);
  if (wrapper !== undefined) return wrapperEffect(program, wrapper, command);
  if (isShell(program)) return shellEffect(program, command);
  if (program === "find") return findEffect(command);
  if (program === "flock") return flockEffect(command);
  return builtinEffect(command) ?? { reason: opaqueReason(program) };
}

/** Names without a special meaning in any shell. */
const plainName = /^(?:\[|[\w./+:@][\w./+:@%,-]*)$/;

function nameReason({ words: [name] }: FoundCommand): string | undefined {
  if (name === undefined) return undefined;
  if (!name.isLiteral) return "it runs a command whose name only the shell knows";
  return plainName.test(name.text) ? undefined : "it runs a command with an unusual name";
}

function lineReason(line: ShellWord | undefined): string | undefined {
  if (line === undefined || line.isLiteral) return undefined;
  return "it runs a line that only the shell knows";
}

import { styleText } from "node:util";
import type { RpcClient } from "@tau-agent/rpc-client";

type SessionEvent = Parameters<Parameters<RpcClient["onEvent"]>[0]>[0];

const MAX_LINES = 6;
const MAX_COLUMNS = 99;
/** Of one line that a tool printed, no more lines of the screen than this. */
const MAX_WRAPPED = 3;
const FACT_COLUMNS = 11;

/** Colours on terminals that have them; NO_COLOR and FORCE_COLOR are obeyed. */
function style(format: Parameters<typeof styleText>[0]): (text: string) => string {
  return (text) => styleText(format, text, { stream: process.stdout });
}

const [bold, cyan] = [style("bold"), style("cyan")];
/** Text that matters less. */
export const dim = style("dim");
/** Text about a failure, or a removed line. */
export const red = style("red");
/** Text about a success, or an added line. */
export const green = style("green");

/** Prints a heading. */
export function heading(text: string): void {
  console.log(`\n${bold(`== ${text}`)}`);
}

/** Prints a name and its value, of one line or several. */
export function fact(name: string, value: string): void {
  const lines = value.split("\n");
  const wrapped = lines.flatMap((line) => wrap(line, MAX_COLUMNS - FACT_COLUMNS));
  if (wrapped.some((line) => line.length > MAX_COLUMNS - FACT_COLUMNS)) {
    // A path that has no room beside its name gets a line of its own.
    console.log(dim(`${name}:`));
    for (const line of lines.flatMap((text) => wrap(text, MAX_COLUMNS - 2)))
      console.log(`  ${line}`);
    return;
  }
  const [first, ...rest] = wrapped;
  console.log(`${dim(`${name}:`.padEnd(FACT_COLUMNS))}${first}`);
  for (const line of rest) console.log(`${" ".repeat(FACT_COLUMNS)}${line}`);
}

/** Prints a paragraph. */
export function say(text: string): void {
  for (const line of wrap(text, MAX_COLUMNS)) console.log(line);
}

/** The lines of a text, broken between words; only a word that has no room in any line runs over. */
export function wrap(text: string, columns: number): string[] {
  if (text.length <= columns) return [text];
  const [start = ""] = /^ */.exec(text) ?? [];
  let last = start;
  const lines: string[] = [];
  for (const word of text.split(" ").filter((part) => part !== "")) {
    const isFirst = last.trim() === "";
    if (!isFirst && last.length + 1 + word.length > columns) {
      lines.push(last);
      last = `${start}${word}`;
    } else last += isFirst ? word : ` ${word}`;
  }
  return [...lines, last];
}

/** Prints what a patch changes: added and removed lines, and of new files only their length. */
export function showPatch(patch: string): void {
  for (const file of patch.split(/^(?=diff --git |=+$)/m)) {
    const name = /^\+\+\+ (?:b\/)?(\S+)/m.exec(file)?.[1];
    if (name === undefined) continue;
    const lines = file.split("\n").filter((line) => /^[+-](?![+-]{2} )/.test(line));
    const isNew = /^(?:--- \/dev\/null|@@ -0,0 )/m.test(file);
    console.log(isNew ? `${name}: new, ${lines.length} lines` : `${name}:`);
    if (isNew) continue;
    for (const line of lines) console.log(line.startsWith("+") ? green(line) : red(line));
  }
}

/** Prints the failing tests of Node's test runner, and how many pass and fail. */
export function showTests(output: string): void {
  const [list = ""] = output.split("✖ failing tests:");
  for (const line of list.split("\n")) if (line.startsWith("✖")) console.log(red(line));
  const count = (name: string) => new RegExp(`^ℹ ${name} (\\d+)$`, "m").exec(output)?.[1];
  const [passed, failed] = [count("pass"), count("fail")];
  if (passed === undefined || failed === undefined) console.log(output.trimEnd());
  else {
    const failures = failed === "0" ? dim("0 fail") : red(`${failed} fail`);
    console.log(`${green(`${passed} pass`)}, ${failures}`);
  }
}

/** Shows a run as it happens: the model's text, each tool call and its result. */
export class Screen {
  /** Whether the cursor is at the beginning of a line. */
  #isAtStart = true;
  #column = 0;
  /** The last word of the model's text, and the space before it: whether it fits is known at its end. */
  #word = "";
  #gap = "";
  /** The call whose line was printed last; its result needs no heading. */
  #lastCall: string | undefined;
  readonly #calls = new Map<string, string>();

  show(event: SessionEvent): void {
    if (event.type === "message_update") {
      const step = event.assistantMessageEvent;
      if (step.type === "text_delta") this.#write(step.delta);
      if (step.type === "text_end") this.#endLine();
    } else if (event.type === "tool_execution_start") {
      this.#call(event.toolCallId, describeCall(event.toolName, event.args));
    } else if (event.type === "tool_execution_end") {
      this.#result(event);
    } else if (event.type === "error") {
      this.#endLine();
      console.log(red(event.error));
    }
  }

  #write(text: string): void {
    if (this.#isAtStart) process.stdout.write("\n");
    this.#isAtStart = false;
    for (const piece of text.split(/(\s)/)) {
      if (!/^\s$/.test(piece)) this.#word += piece;
      else {
        this.#writeWord();
        this.#gap = piece === "\n" ? "" : this.#gap + piece;
        if (piece === "\n") this.#newLine();
      }
    }
  }

  #writeWord(): void {
    if (this.#word === "") return;
    if (this.#column > 0 && this.#column + this.#gap.length + this.#word.length > MAX_COLUMNS) {
      this.#newLine();
      this.#gap = "";
    }
    process.stdout.write(this.#gap + this.#word);
    this.#column += this.#gap.length + this.#word.length;
    this.#gap = "";
    this.#word = "";
  }

  #newLine(): void {
    process.stdout.write("\n");
    this.#column = 0;
  }

  #endLine(): void {
    this.#writeWord();
    this.#gap = "";
    if (this.#column > 0) this.#newLine();
    this.#isAtStart = true;
  }

  #call(id: string, text: string): void {
    this.#endLine();
    this.#lastCall = id;
    this.#calls.set(id, text);
    console.log(cyan(`  > ${text}`));
  }

  #result(event: Extract<SessionEvent, { type: "tool_execution_end" }>): void {
    const { toolCallId, isError, result } = event;
    this.#endLine();
    // Read-only calls run in parallel, so their results come in any order.
    if (this.#lastCall !== toolCallId) console.log(cyan(`  < ${this.#calls.get(toolCallId)}`));
    this.#lastCall = undefined;
    // Its subagents have been shown at work.
    if (event.toolName === "task" && !isError) return;
    const blocks = result.content;
    const text = blocks.map((block) => (block.type === "text" ? block.text : "[image]")).join("\n");
    const diff: unknown = Object(result.details).diff;
    const lines =
      typeof diff === "string"
        ? diff.split("\n").filter((line) => /^[+-]/.test(line))
        : text.trimEnd().split("\n");
    const isDiff = typeof diff === "string";
    for (const line of shorten(lines)) {
      const paint = isError ? red : isDiff ? (line.startsWith("+") ? green : red) : dim;
      for (const part of inRoom(line)) console.log(paint(`    ${part}`));
    }
  }
}

/** The beginning and the end of a text: with failing tests, the end says so. */
function shorten(lines: readonly string[]): readonly string[] {
  if (lines.length <= MAX_LINES + 1) return lines;
  const half = MAX_LINES / 2;
  const left = lines.length - MAX_LINES;
  return [...lines.slice(0, half), `… ${left} more lines …`, ...lines.slice(-half)];
}

/** A line of a tool's output, however long: what has no room is left out at the end of a word. */
function inRoom(line: string): readonly string[] {
  const parts = wrap(line, MAX_COLUMNS - 6);
  if (parts.length <= MAX_WRAPPED) return parts;
  return [...parts.slice(0, MAX_WRAPPED - 1), `${parts[MAX_WRAPPED - 1]} …`];
}

function describeCall(name: string, args: unknown): string {
  const given: Record<string, unknown> = Object(args);
  const tasks = Array.isArray(given.tasks) ? `of ${given.tasks.length} tasks` : "";
  const main = given.command ?? given.path ?? given.pattern ?? tasks;
  const [first = "", ...rest] = String(main).split("\n");
  const more = rest.length > 0 ? ` … (${rest.length} more lines)` : "";
  const [shown = "", over] = wrap(`${name} ${first}`.trimEnd(), MAX_COLUMNS - 28);
  return `${shown}${over === undefined ? "" : " …"}${more}`;
}

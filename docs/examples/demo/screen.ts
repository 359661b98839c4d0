import { styleText } from "node:util";
import type { RpcClient } from "@tau-agent/rpc-client";

type SessionEvent = Parameters<Parameters<RpcClient["onEvent"]>[0]>[0];

const MAX_LINES = 6;
/** More than this is cut off in one line of output. */
export const MAX_COLUMNS = 96;

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

/** Prints a name and its value. */
export function fact(name: string, value: string): void {
  console.log(`${dim(`${name}:`.padEnd(11))}${value}`);
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
    process.stdout.write(text);
    this.#isAtStart = false;
  }

  #endLine(): void {
    if (!this.#isAtStart) process.stdout.write("\n");
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
      console.log(paint(`    ${line.slice(0, MAX_COLUMNS)}`));
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

function describeCall(name: string, args: unknown): string {
  const given: Record<string, unknown> = Object(args);
  const tasks = Array.isArray(given.tasks) ? `of ${given.tasks.length} tasks` : "";
  const main = given.command ?? given.path ?? given.pattern ?? tasks;
  const [first = "", ...rest] = String(main).split("\n");
  const more = rest.length > 0 ? ` … (${rest.length} more lines)` : "";
  return `${name} ${first}`.trimEnd().slice(0, MAX_COLUMNS) + more;
}

import type { RpcClient } from "@tau-agent/rpc-client";

type SessionEvent = Parameters<Parameters<RpcClient["onEvent"]>[0]>[0];

const MAX_LINES = 8;
const MAX_COLUMNS = 140;
const usesColor = process.stdout.isTTY === true && !process.env.NO_COLOR;

function style(code: number): (text: string) => string {
  return (text) => (usesColor ? `\u001b[${code}m${text}\u001b[0m` : text);
}

const [bold, dim, red, green, cyan] = [style(1), style(2), style(31), style(32), style(36)];

/** Prints a heading. */
export function heading(text: string): void {
  console.log(`\n${bold(`== ${text}`)}`);
}

/** Prints a name and its value. */
export function fact(name: string, value: string): void {
  console.log(`${`${name}:`.padEnd(10)}${value}`);
}

/** Prints a diff. */
export function showPatch(patch: string): void {
  const lines = patch.trimEnd().split("\n");
  for (const line of lines) {
    if (/^(\+\+\+|---|diff|index|new file|=)/.test(line)) console.log(dim(line));
    else if (line.startsWith("+")) console.log(green(line));
    else if (line.startsWith("-")) console.log(red(line));
    else console.log(line);
  }
}

/** Prints the test list of Node's test runner, without details. */
export function showTests(output: string): void {
  for (const line of output.split("✖ failing tests:")[0]?.trimEnd().split("\n") ?? []) {
    if (line.startsWith("✔")) console.log(green(line));
    else if (line.startsWith("✖")) console.log(red(line));
    else if (/^ℹ (tests|pass|fail) /.test(line)) console.log(line);
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
    const blocks = result.content;
    const text = blocks.map((block) => (block.type === "text" ? block.text : "[image]")).join("\n");
    const diff: unknown = Object(result.details).diff;
    const lines =
      typeof diff === "string"
        ? diff.split("\n").filter((line) => /^[+-]/.test(line))
        : text.trimEnd().split("\n");
    const paint = isError ? red : dim;
    for (const line of shorten(lines)) console.log(paint(`    ${line.slice(0, MAX_COLUMNS)}`));
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
  const main = given.command ?? given.path ?? given.pattern ?? "";
  const [first = "", ...rest] = String(main).split("\n");
  const more = rest.length > 0 ? ` … (${rest.length} more lines)` : "";
  return `${name} ${first}`.trimEnd().slice(0, MAX_COLUMNS) + more;
}

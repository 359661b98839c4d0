import { hostOptionGroups } from "./host-options.ts";
import type { OptionRow, OptionTable } from "./option-row.ts";
import type { Subcommand } from "./subcommand.ts";

const WIDTH = 100;

const INDENT = 34;

/** The host options that `tau --help` shows; `tau help options` shows all of them. */
const shown: readonly (readonly [title: string, names: readonly string[]])[] = [
  ["Model", ["provider", "model", "thinking", "api-key", "list-models"]],
  ["Session", ["continue", "session", "no-session"]],
  ["Tools and files", ["tools", "permission-mode", "approve", "extension", "system-prompt"]],
];

export function helpText(commands: readonly Subcommand[], topics: readonly string[]): string {
  const table: OptionTable = Object.assign({}, ...hostOptionGroups.map(({ options }) => options));
  const groups = shown.flatMap(([title, names]) => [
    `${title}:`,
    ...names.map((name) => helpRow(name, table[name] as OptionRow)),
  ]);
  const width = Math.max(...commands.map(({ name }) => name.length)) + 2;
  const rows = commands.map(({ name, summary }) => `  ${name.padEnd(width)}${summary}`);
  return `tau: a coding agent without a terminal interface, made to be embedded

  tau -p "what does this project do?"  print the answer
  tau --mode json "fix the tests"      print every event of the run, a line of JSON each
  tau --mode rpc                       commands on stdin, events on stdout, for any language

Commands (tau <command> --help):
${rows.join("\n")}

${groups.join("\n")}

tau help <topic> tells more of: ${topics.join(", ")}.
`;
}

export function optionsHelp(): string {
  const groups = hostOptionGroups.map(
    ({ title, options }) => `${title}:\n${rowsOf(options).join("\n")}\n`,
  );
  return `Options of tau, and of tau acp as far as they fit:\n\n${groups.join("\n")}`;
}

export function commandHelp({
  name,
  summary,
  usage,
  actions = {},
  options,
  notes,
}: Subcommand): string {
  const width = Math.max(0, ...Object.keys(actions).map(({ length }) => length)) + 2;
  const parts = [
    `tau ${name}: ${summary}`,
    usage.map((line) => `  tau ${name} ${line}`.trimEnd()).join("\n"),
    Object.entries(actions)
      .map(([action, help]) => `  ${action.padEnd(width)}${help}`)
      .join("\n"),
    `Options:\n${rowsOf(options).join("\n")}`,
    notes ?? "",
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

function rowsOf(options: OptionTable): string[] {
  return Object.entries(options).map(([name, row]) => helpRow(name, row));
}

function leftOf(name: string, { short, kind, value = "value" }: OptionRow): string {
  const shortName = short === undefined ? "    " : `-${short}, `;
  const given = kind === "optional" ? " [words]" : ` <${value}>`;
  return `  ${shortName}--${name}${kind === "switch" ? "" : given}`;
}

/** Lists names, each with a sentence, one per line. */
export function wordedRows(rows: readonly (readonly [name: string, help: string])[]): string {
  return rows.map(([name, help]) => wordedRow(`  ${name}`, help)).join("\n");
}

function helpRow(name: string, row: OptionRow): string {
  return wordedRow(leftOf(name, row), row.help);
}

function wordedRow(left: string, help: string): string {
  const start = left.length < INDENT - 1 ? [left.padEnd(INDENT)] : [left, " ".repeat(INDENT)];
  const lines = wrap(help, WIDTH - INDENT);
  const [first = "", ...rest] = lines;
  const last = `${start.pop() ?? ""}${first}`;
  return [...start, last, ...rest.map((line) => " ".repeat(INDENT) + line)].join("\n");
}

function wrap(text: string, width: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1) ?? "";
    if (line !== "" && line.length + word.length + 1 > width) lines.push(word);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return lines;
}

import { hostOptions } from "./host-options.ts";
import type { OptionRow, OptionTable } from "./option-row.ts";
import type { Subcommand } from "./subcommand.ts";

type Shell = "bash" | "zsh" | "fish";

export function completionScript(shell: Shell, commands: readonly Subcommand[]): string {
  if (shell === "fish") return fishScript(commands);
  const script = bashScript(commands);
  // zsh can run bash completions.
  return shell === "zsh" ? `autoload -U +X bashcompinit && bashcompinit\n${script}` : script;
}

function bashScript(commands: readonly Subcommand[]): string {
  const cases = commands.map(({ name, options, actions }) => {
    const words = [...Object.keys(actions ?? {}), ...wordsOf(options)];
    return `    ${name}) words="${words.join(" ")}" ;;`;
  });
  const top = [...commands.map(({ name }) => name), ...wordsOf(hostOptions)];
  const tables = [hostOptions, ...commands.map(({ options }) => options)];
  const values = merged(tables.flatMap(valueCases));
  return `# Completes the command line of tau.
_tau() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" words=""
  COMPREPLY=()
  case "$previous" in
${values.join("\n")}
  esac
  case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
    *) words="${top.join(" ")}" ;;
  esac
  [ "$COMP_CWORD" = 1 ] && words="${top.join(" ")}"
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [ "\${#COMPREPLY[@]}" = 0 ] && COMPREPLY=($(compgen -f -- "$current"))
  return 0
}
complete -F _tau tau
`;
}

function wordsOf(options: OptionTable): string[] {
  return Object.entries(options).flatMap(([name, { short }]) => [
    `--${name}`,
    ...(short === undefined ? [] : [`-${short}`]),
  ]);
}

/** The completions after each option that takes a value, as a bash `case`. */
function valueCases(options: OptionTable): string[] {
  return Object.entries(options).flatMap(([name, row]) => {
    if (row.kind !== undefined && row.kind !== "list") return [];
    const pattern = [`--${name}`, ...(row.short === undefined ? [] : [`-${row.short}`])].join("|");
    return [`    ${pattern}) COMPREPLY=(${replyOf(row)}); return 0 ;;`];
  });
}

function replyOf({ choices, isPath }: OptionRow): string {
  if (choices !== undefined) return `$(compgen -W "${choices.join(" ")}" -- "$current")`;
  return isPath ? '$(compgen -f -- "$current")' : "";
}

/** If several cases name an option, bash runs the first. */
function merged(cases: readonly string[]): string[] {
  const seen = new Map([...cases].reverse().map((line) => [line.split(")", 1)[0], line]));
  return [...seen.values()].reverse();
}

function fishScript(commands: readonly Subcommand[]): string {
  const names = commands.map(({ name }) => name).join(" ");
  const isNone = `"not __fish_seen_subcommand_from ${names}"`;
  const lines = commands.flatMap(({ name, summary, options, actions }) => {
    const isThis = `"__fish_seen_subcommand_from ${name}"`;
    return [
      `complete -c tau -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`,
      ...Object.entries(actions ?? {}).map(
        ([action, help]) => `complete -c tau -n ${isThis} -a ${action} -d ${quoted(help)}`,
      ),
      ...fishOptions(options, isThis),
    ];
  });
  return `# Completes the command line of tau.\n${[...fishOptions(hostOptions, isNone), ...lines].join("\n")}\n`;
}

function fishOptions(options: OptionTable, condition: string): string[] {
  return Object.entries(options).map(([name, row]) => {
    const { short, kind, choices, isPath, help } = row;
    const shortName =
      short === undefined ? "" : short.length === 1 ? ` -s ${short}` : ` -o ${short}`;
    const takes = kind === undefined || kind === "list";
    const value = !takes
      ? ""
      : choices !== undefined
        ? ` -x -a ${quoted(choices.join(" "))}`
        : isPath
          ? " -r"
          : " -x";
    return `complete -c tau -n ${condition} -l ${name}${shortName}${value} -d ${quoted(help)}`;
  });
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

import { nearestHint } from "@tau-agent/rpc-protocol/plain";
import { commandHelp } from "./help.ts";
import type { OptionTable } from "./option-row.ts";
import type { CommandContext, CommandLine, Subcommand } from "./subcommand.ts";
import { tokensOf } from "./tokens.ts";
import { checkedValue, refuse, refuseLong, refuseShort } from "./values.ts";

interface SubcommandDefinition<Options extends OptionTable> extends Omit<Subcommand, "run"> {
  readonly options: Options;
  /** The maximum number of words besides the action; unlimited when absent. */
  readonly maxWords?: number;
  /** Whether words may follow `--`. */
  readonly takesProgram?: boolean;
  /** Whether, for these words, options that are not in the table are ignored. */
  readonly passesOver?: (words: readonly string[]) => boolean;
  readonly run: (
    line: CommandLine<Options>,
    context: CommandContext,
  ) => Promise<number | undefined>;
}

/** The options that every subcommand accepts besides its own. */
const common = { help: { kind: "switch", short: "h", help: "Show this help" } } as const;

/** Defines a subcommand whose words are parsed by its table. Adds `--help` automatically. */
export function defineSubcommand<const Options extends OptionTable>(
  definition: SubcommandDefinition<Options>,
): Subcommand {
  const options: OptionTable = { ...definition.options, ...common };
  const command: Subcommand = {
    ...definition,
    options,
    run: async (words, context) => {
      const { values, ...line } = readCommandLine({ ...definition, options }, words);
      const isBare = definition.actions !== undefined && words.length === 0;
      if (values.help !== true && !isBare) {
        return definition.run({ values, ...line } as CommandLine<Options>, context);
      }
      context.print(commandHelp(command));
      return 0;
    },
  };
  return command;
}

type Reader = Pick<
  SubcommandDefinition<OptionTable>,
  "name" | "options" | "actions" | "maxWords" | "takesProgram" | "passesOver"
>;

/**
 * Parses the words after a subcommand's name.
 *
 * @throws {ProtocolError} `invalid_option` with the word and the nearest valid one
 */
function readCommandLine(
  { name: command, options, actions, maxWords, takesProgram = false, passesOver }: Reader,
  given: readonly string[],
): CommandLine<OptionTable> {
  const place = `tau ${command} --help`;
  const values: Record<string, boolean | string | readonly string[]> = {};
  const words: string[] = [];
  const behind: string[] = [];
  for (const token of tokensOf(given, options)) {
    if (token.kind === "word") {
      (token.isBehind && takesProgram ? behind : words).push(token.word);
      continue;
    }
    const { name, shown, row } = token;
    if (row === undefined) {
      if (passesOver?.(given)) continue;
      if (shown.startsWith("--")) refuseLong(name, Object.keys(options), place);
      refuseShort(shown, options, place);
    }
    if (takesProgram && token.value === "--" && !token.isInline) refuse(shown, "it needs a value");
    const value = checkedValue(row, token, options);
    if (row.kind === "list") values[name] = [...list(values[name]), String(value)];
    else values[name] = value;
  }
  const hasEnd = takesProgram && given.includes("--");
  const line = { values, action: "", words, behind: hasEnd ? behind : undefined };
  if (values.help === true || (actions !== undefined && given.length === 0)) return line;
  const action = actions === undefined ? "" : checkedAction(command, words.shift(), actions);
  const surplus = maxWords === undefined ? undefined : words[maxWords];
  if (surplus !== undefined) refuse(surplus, `it is one word too many; see ${place}`);
  return { ...line, action };
}

function list(value: unknown): readonly string[] {
  return Array.isArray(value) ? value : [];
}

function checkedAction(
  command: string,
  word: string | undefined,
  actions: Readonly<Record<string, string>>,
): string {
  if (word !== undefined && Object.hasOwn(actions, word)) return word;
  const names = Object.keys(actions);
  const hint = word === undefined ? "" : nearestHint(word, names);
  return refuse(word ?? command, `expected ${names.join(", ")} behind tau ${command}${hint}`);
}

import type { ProcessEnvironment } from "../process/environment.ts";
import type { FrameOutput } from "../process/output.ts";
import type { OptionTable, OptionValue } from "./option-row.ts";

/** What a subcommand receives from the process it runs in. */
export interface CommandContext {
  readonly output: FrameOutput;
  /** Writes to stdout; the process ends only after everything is written. */
  print(text: string): void;
  readonly environment: ProcessEnvironment;
  /** Every subcommand, for the ones that explain or complete the others. */
  readonly commands: readonly Subcommand[];
}

export interface Subcommand {
  readonly name: string;
  readonly summary: string;
  /** The forms of the command, each without `tau <name>`. */
  readonly usage: readonly string[];
  /** The possible first words, each with a sentence; without them, the first word is free. */
  readonly actions?: Readonly<Record<string, string>> | undefined;
  readonly options: OptionTable;
  /** Text at the end of the help. */
  readonly notes?: string | undefined;
  /**
   * Runs the subcommand with the words after its name.
   *
   * @returns the exit code; undefined if it serves a client and ends the process itself
   */
  run(words: readonly string[], context: CommandContext): Promise<number | undefined>;
}

/** The words after a subcommand's name, parsed by its table. */
export interface CommandLine<Options extends OptionTable> {
  readonly values: { readonly [Name in keyof Options]?: OptionValue<Options[Name]> };
  readonly action: string;
  /** The positional words before `--`. */
  readonly words: readonly string[];
  /** The words after `--`; undefined if there is no `--`. */
  readonly behind: readonly string[] | undefined;
}

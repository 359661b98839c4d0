import type { ProcessEnvironment } from "../process/environment.ts";
import type { FrameOutput } from "../process/output.ts";
import type { OptionTable, OptionValue } from "./option-row.ts";

/** What a subcommand has of the process it runs in. */
export interface CommandContext {
  readonly output: FrameOutput;
  /** Writes to stdout; all of it is there before the process ends. */
  print(text: string): void;
  readonly environment: ProcessEnvironment;
  /** Every subcommand, for those that explain or complete the others. */
  readonly commands: readonly Subcommand[];
}

export interface Subcommand {
  readonly name: string;
  readonly summary: string;
  /** The ways to write it, each without `tau <name>`. */
  readonly usage: readonly string[];
  /** What its first word can be, with a sentence each; a subcommand without them takes other words. */
  readonly actions?: Readonly<Record<string, string>> | undefined;
  readonly options: OptionTable;
  /** What the help says after all else. */
  readonly notes?: string | undefined;
  /**
   * Runs it with the words behind its name.
   *
   * @returns the exit code; undefined if it serves a client and ends the process itself
   */
  run(words: readonly string[], context: CommandContext): Promise<number | undefined>;
}

/** The words behind a subcommand, read by its table. */
export interface CommandLine<Options extends OptionTable> {
  readonly values: { readonly [Name in keyof Options]?: OptionValue<Options[Name]> };
  readonly action: string;
  /** The other words before `--`. */
  readonly words: readonly string[];
  /** The words behind `--`; undefined without one. */
  readonly behind: readonly string[] | undefined;
}

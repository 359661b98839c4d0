import type { Place } from "@tau-agent/conformance";
import { runSubcommand } from "../../src/commands/run-subcommand.ts";
import { commandLineText } from "../../src/process/command-line-words.ts";
import { environmentFrom } from "../../src/process/environment.ts";

/** The output and exit code of a command. */
export interface CommandOutcome {
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a subcommand in this process with the words after `tau`: everything but the process itself is real.
 * `onPrint` is called with all of stdout whenever it grows.
 */
export async function runCommand(
  { cwd, variables }: Pick<Place, "cwd" | "variables">,
  words: readonly string[],
  onPrint: (stdout: string) => void = () => {},
): Promise<CommandOutcome> {
  const environment = { cwd, program: [], ...environmentFrom(variables) };
  let stdout = "";
  const print = (text: string): void => {
    stdout += text;
    onPrint(stdout);
  };
  const output = {
    write: (text: string | Uint8Array, onWritten?: () => void) => {
      print(String(text));
      onWritten?.();
      return true;
    },
    onDrain: () => {},
    onClosed: () => {},
  };
  try {
    const outcome = await runSubcommand(words, { output, print, environment });
    return { code: outcome.kind === "run" ? outcome.exitCode : undefined, stdout, stderr: "" };
  } catch (error) {
    return { code: 1, stdout, stderr: `tau: error: ${commandLineText(error as Error)}\n` };
  }
}

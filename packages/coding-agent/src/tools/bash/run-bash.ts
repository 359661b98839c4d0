import { constants } from "node:os";
import {
  type CommandOutcome,
  OutputBuffer,
  type OutputMask,
  OutputSanitizer,
  type OutputStream,
  openOutput,
  runShellCommand,
  type ToolEnvironment,
} from "@tau-agent/system";

/** The result of a command that a client, not the model, ran. */
export interface BashResult {
  /** stdout and stderr without terminal sequences; only the end if `truncated`. */
  readonly output: string;
  /** 128 + n for signal n; undefined if cancelled. */
  readonly exitCode: number | undefined;
  readonly cancelled: boolean;
  readonly truncated: boolean;
  /** A file with all of a truncated output. */
  readonly fullOutputPath?: string;
}

export interface RunBashOptions {
  readonly environment: ToolEnvironment;
  /** Masks keys in the result and its file. */
  readonly mask?: OutputMask | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called with each new piece of clean output; further output waits for a returned promise. Must not fail. */
  readonly onDelta?: ((delta: string) => void | Promise<void>) | undefined;
}

/**
 * Runs a command for a client; several may run at once.
 *
 * @throws {ProcessError} if the shell or the directory does not exist
 */
export async function runBash(command: string, options: RunBashOptions): Promise<BashResult> {
  const { environment, signal, onDelta } = options;
  const output = new OutputBuffer(() => openOutput(environment), { mask: options.mask });
  const texts = { stdout: new CleanText(), stderr: new CleanText() };
  const add = (text: string, stream: OutputStream) => {
    if (text === "") return undefined;
    const wait = onDelta?.(text);
    const stored = output.append(Buffer.from(text), stream);
    return wait === undefined ? stored : Promise.resolve(wait).then(() => stored);
  };
  const outcome = await runShellCommand(environment, {
    command,
    signal,
    onOutput: (chunk, stream) => add(texts[stream].push(chunk), stream),
  });
  for (const stream of ["stdout", "stderr"] as const) await add(texts[stream].end(), stream);
  const { truncation, fullOutputPath } = await output.finish();
  return {
    output: truncation.content,
    exitCode: exitCodeOf(outcome),
    cancelled: outcome.kind === "aborted" || outcome.kind === "timed_out",
    truncated: truncation.truncated,
    ...(fullOutputPath !== undefined && { fullOutputPath }),
  };
}

function exitCodeOf(outcome: CommandOutcome): number | undefined {
  if (outcome.kind === "exited") return outcome.exitCode;
  if (outcome.kind === "signalled") return 128 + constants.signals[outcome.signal];
  return undefined;
}

/** A stream's bytes as clean text; characters and sequences may be split across chunks. */
class CleanText {
  readonly #decoder = new TextDecoder();
  readonly #sanitizer = new OutputSanitizer();

  push(chunk: Buffer): string {
    return this.#sanitizer.push(this.#decoder.decode(chunk, { stream: true }));
  }

  end(): string {
    return this.#sanitizer.push(this.#decoder.decode());
  }
}

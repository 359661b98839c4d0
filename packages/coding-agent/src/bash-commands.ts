import type { BashResult } from "@tau-agent/rpc-protocol";
import type { BashExecutionMessage } from "@tau-agent/rpc-protocol/messages";
import { SessionError } from "./errors.ts";
import type { ToolEnvironment } from "./tools/environment.ts";

/** How a client's command is run. */
export interface BashCommandOptions {
  /** Keeps the result from the model. */
  readonly excludeFromContext?: boolean | undefined;
  /** Hears the output as it comes. */
  readonly onDelta?: ((delta: string) => void) | undefined;
}

/** What {@link BashCommands} works with. */
export interface BashCommandsOptions {
  readonly environment: ToolEnvironment;
  /** Puts the result into the conversation, now or when the run is over. */
  readonly record: (message: BashExecutionMessage) => void;
}

/** Shell commands a client runs itself; several may run at once. */
export class BashCommands {
  readonly #options: BashCommandsOptions;
  readonly #running = new Set<AbortController>();

  constructor(options: BashCommandsOptions) {
    this.#options = options;
  }

  /**
   * Runs a command and adds what it printed to the conversation.
   *
   * @throws {SessionError} `bash_failed` when the shell cannot be started.
   */
  async run(command: string, options: BashCommandOptions = {}): Promise<BashResult> {
    const controller = new AbortController();
    this.#running.add(controller);
    try {
      const { runBash } = await import("./tools/bash/run-bash.ts");
      const { environment } = this.#options;
      const { onDelta } = options;
      const { exitCode, ...rest } = await runBash(command, {
        environment,
        signal: controller.signal,
        onDelta,
      });
      const result: BashResult = exitCode === undefined ? rest : withExitCode(rest, exitCode);
      this.#options.record(toMessage(command, result, options.excludeFromContext));
      return result;
    } catch (error) {
      if (error instanceof SessionError) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      throw new SessionError("bash_failed", { reason }, { cause: error });
    } finally {
      this.#running.delete(controller);
    }
  }

  /** Kills every running command. */
  abort(): void {
    for (const controller of this.#running) controller.abort();
  }
}

/** The documented order of keys. */
function withExitCode({ output, ...rest }: BashResult, exitCode: number): BashResult {
  return { output, exitCode, ...rest };
}

function toMessage(
  command: string,
  result: BashResult,
  excludeFromContext: boolean | undefined,
): BashExecutionMessage {
  return {
    role: "bashExecution",
    command,
    ...result,
    ...(excludeFromContext ? { excludeFromContext } : {}),
    timestamp: Date.now(),
  };
}

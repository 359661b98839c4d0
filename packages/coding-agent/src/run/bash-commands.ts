import type { BashResult, SandboxInfo } from "@tau-agent/rpc-protocol";
import type { BashExecutionMessage } from "@tau-agent/rpc-protocol/messages";
import { errorMessage, SessionError } from "@tau-agent/rpc-protocol/plain";
import type { Workspace } from "@tau-agent/rpc-protocol/workspace";
import {
  maskText,
  type OutputMask,
  type SandboxParts,
  SparseMap,
  type ToolEnvironment,
} from "@tau-agent/system";
import type { SessionHooks, ShellRequest } from "./session-hooks.ts";

/** How to run a client's command. */
export interface BashCommandOptions {
  /** Whether to exclude the result from the model's context. */
  readonly excludeFromContext?: boolean | undefined;
  /** Receives the output as it arrives; further output waits for a returned promise. */
  readonly onDelta?: ((delta: string) => void | Promise<void>) | undefined;
}

export interface BashCommandsOptions {
  readonly environment: ToolEnvironment;
  /** The sandbox for commands. */
  readonly sandboxed: SandboxParts;
  /** Whether a run is active, during which a result would separate a tool call from its result. */
  readonly isHeld: () => boolean;
  readonly record: (message: BashExecutionMessage) => void;
  /** May run the command in another place. */
  readonly hooks?: Pick<SessionHooks, "runShell"> | undefined;
}

/** Shell commands of a client; several may run at once. */
export class BashCommands {
  readonly #options: BashCommandsOptions;
  readonly #running = new SparseMap<AbortController, Promise<BashResult>>();
  readonly #held: BashExecutionMessage[] = [];
  #isClosed = false;

  constructor(options: BashCommandsOptions) {
    this.#options = options;
  }

  /**
   * Runs a command and adds its output to the conversation.
   *
   * @throws {SessionError} `bash_failed` if the shell cannot be started, `session_write_failed` if
   *   the command ran but its result could not be stored, `disposed`
   */
  async run(command: string, options: BashCommandOptions = {}): Promise<BashResult> {
    if (this.#isClosed) throw new SessionError("disposed");
    const controller = new AbortController();
    const running = this.#run(command, options, controller.signal);
    this.#running.set(controller, running);
    try {
      return await running;
    } catch (error) {
      if (error instanceof SessionError) throw error;
      const reason = errorMessage(error);
      throw new SessionError("bash_failed", { reason }, { cause: error });
    } finally {
      this.#running.delete(controller);
    }
  }

  /** Describes the sandbox of commands and file tools, and whether this machine supports it. */
  async describeSandbox(): Promise<SandboxInfo> {
    const { describeSandbox } = await import("@tau-agent/system/describe-sandbox");
    const { sandboxed, environment } = this.#options;
    return describeSandbox(sandboxed, environment.environment);
  }

  /** The remote workspace of commands and files; undefined for this machine. */
  get workspaceElsewhere(): Workspace | undefined {
    const { workspace } = this.#options.environment;
    return workspace.id === "local" ? undefined : workspace;
  }

  /** Whether a command is running. */
  get isRunning(): boolean {
    return this.#running.size > 0;
  }

  /** Kills every running command. */
  abort(): void {
    for (const controller of this.#running.keys()) controller.abort();
  }

  /** Kills every running command, and resolves once all have ended and their results are recorded. */
  async stop(): Promise<void> {
    this.abort();
    await Promise.allSettled(this.#running.values());
  }

  /** Like {@link stop}, and refuses further commands. */
  close(): Promise<void> {
    this.#isClosed = true;
    return this.stop();
  }

  /** Records the results that arrived during a run; a result that cannot be stored stays held. */
  recordHeld(): void {
    for (let first = this.#held[0]; first !== undefined; first = this.#held[0]) {
      this.#options.record(first);
      this.#held.shift();
    }
  }

  async #run(
    command: string,
    { onDelta, excludeFromContext }: BashCommandOptions,
    signal: AbortSignal,
  ): Promise<BashResult> {
    const { hooks, isHeld, record, environment } = this.#options;
    const createMask = () => environment.createOutputMask?.();
    const deltas = onDelta && maskedDeltas(onDelta, createMask());
    const request: ShellRequest = {
      ...{ command, excludeFromContext: excludeFromContext ?? false, signal },
      ...{ onDelta: deltas?.add, mask: createMask() },
    };
    const decided = await hooks?.runShell(request);
    const result = decided ? withMask(decided, createMask()) : await this.#runHere(request);
    await deltas?.end();
    const message = toMessage(command, result, excludeFromContext);
    if (isHeld()) this.#held.push(message);
    else record(message);
    return result;
  }

  async #runHere({ command, ...request }: ShellRequest): Promise<BashResult> {
    const { runBash } = await import("../tools/bash/run-bash.ts");
    const { environment } = this.#options;
    const { exitCode, ...rest } = await runBash(command, { environment, ...request });
    return exitCode === undefined ? rest : withExitCode(rest, exitCode);
  }
}

type DeltaSink = NonNullable<BashCommandOptions["onDelta"]>;

/** Masks keys in deltas, including keys that are split between two deltas. */
function maskedDeltas(
  onDelta: DeltaSink,
  mask: OutputMask | undefined,
): { readonly add: DeltaSink; readonly end: () => void | Promise<void> } {
  if (mask === undefined) return { add: onDelta, end: () => undefined };
  const pass = (bytes: Buffer) => (bytes.length === 0 ? undefined : onDelta(bytes.toString()));
  return { add: (delta) => pass(mask.push(Buffer.from(delta))), end: () => pass(mask.end()) };
}

/** Masks keys in an extension's result of a command. */
function withMask(result: BashResult, mask: OutputMask | undefined): BashResult {
  return mask === undefined ? result : { ...result, output: maskText(mask, result.output) };
}

/** Puts the members into their documented order. */
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
    // The member is documented as always present.
    fullOutputPath: result.fullOutputPath ?? null,
    ...(excludeFromContext ? { excludeFromContext } : {}),
    timestamp: Date.now(),
  };
}

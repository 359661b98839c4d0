import type { AgentContext, TerminalExitStatus, TerminalHandle } from "@agentclientprotocol/sdk";
import { ToolError } from "@tau-agent/agent";
import type { CommandRunner } from "@tau-agent/coding-agent";
import type { ForeignCommand } from "@tau-agent/system";
import { within } from "@tau-agent/system";

const OUTPUT_BYTES = 1024 * 1024;
/** How long the client may take to end a command and to hand over its output. */
const END_MS = 1_000;
/** The longest a timer can run. */
const MAX_TIMER_MS = 2_147_483_647;

export interface TerminalPlace {
  readonly client: AgentContext;
  readonly sessionId: string;
  readonly onTerminal: (toolCallId: string, terminalId: string) => void;
}

type Outcome = Awaited<ReturnType<CommandRunner>>;

export function clientTerminal(place: TerminalPlace): CommandRunner {
  return async (command) => {
    if (command.signal.aborted) return { kind: "aborted" };
    const stopped = stopOf(command);
    try {
      const creating = create(place, command);
      const terminal = await Promise.race([creating, stopped.promise]);
      if (typeof terminal === "string") {
        // The client may still make it.
        void creating.then(discard, () => {});
        return { kind: terminal };
      }
      place.onTerminal(command.toolCallId, terminal.id);
      return await follow(terminal, command, stopped.promise);
    } finally {
      stopped.clear();
    }
  };
}

function create({ client, sessionId }: TerminalPlace, command: ForeignCommand) {
  const { file, args, cwd, variables } = command;
  const env = Object.entries(variables).map(([name, value]) => ({ name, value }));
  return client
    .createTerminal({
      sessionId,
      command: file,
      args: [...args],
      cwd,
      env,
      outputByteLimit: OUTPUT_BYTES,
    })
    .then((terminal) => {
      if (typeof terminal.id === "string") return terminal;
      throw new Error("it has no id");
    })
    .catch((error: unknown) => {
      throw terminalFailure(error);
    });
}

async function follow(
  terminal: TerminalHandle,
  command: ForeignCommand,
  stopped: Promise<"aborted" | "timed_out">,
): Promise<Outcome> {
  try {
    const exit = await Promise.race([terminal.waitForExit(), stopped]);
    if (typeof exit === "string") await inTime(terminal.kill());
    const shown = await inTime(terminal.currentOutput());
    if (shown !== undefined) await command.onOutput(Buffer.from(shown.output), "stdout");
    return typeof exit === "string" ? { kind: exit } : outcomeOf(exit);
  } catch (error) {
    throw terminalFailure(error);
  } finally {
    void inTime(terminal.release());
  }
}

async function discard(terminal: TerminalHandle): Promise<void> {
  await inTime(terminal.kill());
  await inTime(terminal.release());
}

function outcomeOf({ exitCode, signal }: TerminalExitStatus): Outcome {
  if (typeof exitCode === "number") return { kind: "exited", exitCode };
  if (signal) return { kind: "signalled", signal: signal as NodeJS.Signals };
  return { kind: "unknown" };
}

/** Settles when the call is aborted, or its time is over. */
function stopOf({ signal, timeoutMs }: ForeignCommand) {
  const { promise, resolve } = Promise.withResolvers<"aborted" | "timed_out">();
  const onAbort = (): void => resolve("aborted");
  signal.addEventListener("abort", onAbort, { once: true });
  const timer =
    timeoutMs === undefined
      ? undefined
      : setTimeout(() => resolve("timed_out"), Math.min(timeoutMs, MAX_TIMER_MS));
  return {
    promise,
    clear: () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    },
  };
}

/** What the client answers, unless it takes too long or cannot. */
async function inTime<Value>(work: Promise<Value>): Promise<Value | undefined> {
  return within(END_MS, work).catch(() => undefined);
}

function terminalFailure(error: unknown): ToolError {
  const reason = error instanceof Error ? error.message : String(error);
  return new ToolError(`The editor's terminal failed: ${reason}`, undefined, { cause: error });
}

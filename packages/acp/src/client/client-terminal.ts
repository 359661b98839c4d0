import type { AgentContext, TerminalExitStatus, TerminalHandle } from "@agentclientprotocol/sdk";
import {
  type Workspace,
  WorkspaceError,
  type WorkspaceExit,
  type WorkspaceProcess,
  type WorkspaceSpawnOptions,
} from "@tau-agent/rpc-protocol/workspace";
import { within } from "@tau-agent/system";

const OUTPUT_BYTES = 1024 * 1024;
/** How long the client may take to end a command and to hand over its output. */
const END_MS = 1_000;
/** The longest delay of a timer. */
const MAX_TIMER_MS = 2_147_483_647;

export interface TerminalPlace {
  readonly client: AgentContext;
  readonly sessionId: string;
  /** The variables of this process, which the terminal inherits. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly onTerminal: (terminalId: string) => void;
}

/** Runs commands in a terminal of the client. */
export function clientTerminal(local: Workspace, place: TerminalPlace): Workspace["spawn"] {
  return async (options) => {
    const { signal } = options;
    if (signal?.aborted) throw new WorkspaceError("aborted", undefined, { cause: signal.reason });
    const { shell } = await local.describe();
    const stopped = stopOf(options);
    try {
      const creating = create(place, { ...options, shell, cwd: options.cwd ?? local.cwd });
      const terminal = await Promise.race([creating, stopped.promise]);
      if ("stoppedFor" in terminal) {
        // The client may still create the terminal.
        void creating.then(discard, () => {});
        stopped.clear();
        return processOf(Promise.resolve(exitOf(terminal)), async () => {});
      }
      place.onTerminal(terminal.id);
      const done = follow(terminal, options, stopped.promise).finally(() => stopped.clear());
      return processOf(done, () => inTime(terminal.kill()));
    } catch (error) {
      stopped.clear();
      throw error;
    }
  };
}

function processOf(done: Promise<WorkspaceExit>, kill: () => Promise<unknown>): WorkspaceProcess {
  done.catch(() => {});
  const noInput = async (): Promise<void> => {
    throw new WorkspaceError("unsupported", "Commands in the editor's terminal have no input");
  };
  return { done, write: noInput, endInput: noInput, kill: async () => void (await kill()) };
}

type Ordered = WorkspaceSpawnOptions & { readonly shell: string; readonly cwd: string };

function create({ client, sessionId, environment }: TerminalPlace, order: Ordered) {
  const { command, shell, cwd } = order;
  const [file = shell, ...args] = typeof command === "string" ? [shell, "-c", command] : command;
  const env = changedVariables(order.environment ?? {}, environment);
  return client
    .createTerminal({
      sessionId,
      command: file,
      args,
      cwd,
      env: Object.entries(env).map(([name, value]) => ({ name, value })),
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

/** The variables that differ from the terminal's own. Removed variables become empty. */
function changedVariables(
  wanted: Readonly<Record<string, string | null>>,
  own: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const changed = Object.entries(wanted).flatMap(([name, value]) => {
    if (value === null) return own[name] ? [[name, ""] as const] : [];
    return own[name] === value ? [] : [[name, value] as const];
  });
  return Object.fromEntries(changed);
}

interface Stopped {
  readonly stoppedFor: "aborted" | "timed_out";
}

async function follow(
  terminal: TerminalHandle,
  { onOutput }: WorkspaceSpawnOptions,
  stopped: Promise<Stopped>,
): Promise<WorkspaceExit> {
  try {
    const exit = await Promise.race([terminal.waitForExit(), stopped]);
    if ("stoppedFor" in exit) await inTime(terminal.kill());
    const shown = await inTime(terminal.currentOutput());
    if (shown !== undefined) await onOutput(Buffer.from(shown.output), "stdout");
    return exitOf(exit);
  } catch (error) {
    throw terminalFailure(error);
  } finally {
    void inTime(terminal.release());
  }
}

function exitOf(exit: TerminalExitStatus | Stopped): WorkspaceExit {
  if ("stoppedFor" in exit) {
    const isTimedOut = exit.stoppedFor === "timed_out";
    return { exitCode: null, signal: "SIGTERM", ...(isTimedOut && { timedOut: true }) };
  }
  if (typeof exit.exitCode === "number") return { exitCode: exit.exitCode };
  return { exitCode: null, ...(exit.signal && { signal: exit.signal }) };
}

async function discard(terminal: TerminalHandle): Promise<void> {
  await inTime(terminal.kill());
  await inTime(terminal.release());
}

/** Settles when the call is aborted or times out. */
function stopOf({ signal, timeoutMs }: WorkspaceSpawnOptions) {
  const { promise, resolve } = Promise.withResolvers<Stopped>();
  const onAbort = (): void => resolve({ stoppedFor: "aborted" });
  signal?.addEventListener("abort", onAbort, { once: true });
  const timer =
    timeoutMs === undefined
      ? undefined
      : setTimeout(() => resolve({ stoppedFor: "timed_out" }), Math.min(timeoutMs, MAX_TIMER_MS));
  return {
    promise,
    clear: () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    },
  };
}

/** The client's answer; undefined if it fails or takes too long. */
async function inTime<Value>(work: Promise<Value>): Promise<Value | undefined> {
  return within(END_MS, work).catch(() => undefined);
}

function terminalFailure(error: unknown): WorkspaceError {
  const reason = error instanceof Error ? error.message : String(error);
  return new WorkspaceError("failed", `The editor's terminal failed: ${reason}`, { cause: error });
}

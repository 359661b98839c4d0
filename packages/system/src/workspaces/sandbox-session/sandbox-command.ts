import {
  WorkspaceError,
  type WorkspaceExit,
  type WorkspaceProcess,
  type WorkspaceSpawnOptions,
  type WorkspaceStream,
} from "@tau-agent/rpc-protocol/workspace";
import { whenAborted } from "../../base/when-aborted.ts";
import { within } from "../../base/within.ts";
import type { SandboxProcess } from "./sandbox-session.ts";

const drainMs = 1_000;
/** How long to wait for the end of a killed command. */
const graceMs = 2_000;

/** A command of a sandbox session, which can only be killed in one way and has no input. */
export function createSandboxCommand(
  program: SandboxProcess,
  options: WorkspaceSpawnOptions,
): WorkspaceProcess {
  const given = Promise.withResolvers<WorkspaceExit>();
  let killedFor: "signal" | "limit" | undefined;
  let isOver = false;
  const done = run();
  done.catch(() => undefined);

  async function run(): Promise<WorkspaceExit> {
    const { signal, timeoutMs } = options;
    const timer =
      timeoutMs === undefined ? undefined : setTimeout(() => void endFor("limit"), timeoutMs);
    const leave = whenAborted(signal, () => void endFor("signal"));
    const streams = Promise.all([pump(program.stdout, "stdout"), pump(program.stderr, "stderr")]);
    try {
      const ended = Promise.resolve(program.wait());
      const exit = await Promise.race([given.promise, ended.then((end) => exitOf(end))]);
      await within(drainMs, streams);
      return exit;
    } catch (error) {
      if (killedFor !== undefined) return exitOf({ exitCode: 137 });
      throw new WorkspaceError("lost", `workspace lost: ${Object(error).message ?? error}`, {
        cause: error,
      });
    } finally {
      isOver = true;
      clearTimeout(timer);
      leave();
    }
  }

  function exitOf({ exitCode }: { readonly exitCode: number }): WorkspaceExit {
    if (killedFor === undefined) return { exitCode };
    const exit = { exitCode: null, signal: "SIGKILL" };
    return killedFor === "limit" ? { ...exit, timedOut: true } : exit;
  }

  async function endFor(reason: "signal" | "limit"): Promise<void> {
    if (isOver) return;
    killedFor ??= reason;
    await within(
      graceMs,
      Promise.resolve(program.kill()).catch(() => undefined),
    );
    setTimeout(() => given.resolve(exitOf({ exitCode: 137 })), graceMs).unref();
  }

  async function pump(stream: ReadableStream<Uint8Array>, name: WorkspaceStream): Promise<void> {
    try {
      for await (const bytes of stream) {
        if (!isOver && bytes.length > 0) await options.onOutput(bytes, name);
      }
    } catch {
      // The command's end reports the problem.
    }
  }

  const refuse = async (): Promise<void> => {
    throw new WorkspaceError("unsupported", "Commands of a sandbox session have no input");
  };

  return {
    pid: program.pid,
    done,
    write: refuse,
    endInput: refuse,
    async kill(signal = "SIGTERM") {
      if (signal !== "SIGTERM" && signal !== "SIGKILL") {
        throw new WorkspaceError("unsupported", `A sandbox session does not send ${signal}`);
      }
      await endFor("signal");
    },
  };
}

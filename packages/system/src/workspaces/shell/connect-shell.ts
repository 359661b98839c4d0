import { errorMessage } from "@tau-agent/rpc-protocol/plain";
import { isWorkspaceError, type Workspace } from "@tau-agent/rpc-protocol/workspace";
import { within } from "../../base/within.ts";
import { keyVariableNames } from "../../keys/environment-keys.ts";
import type { ProcessRegistry } from "../../processes/process-registry.ts";
import type { CarrierOptions } from "../common/carrier-options.ts";
import { type CarrierProgram, startCarrierProgram } from "../common/carrier-program.ts";
import { unreachable } from "../common/unreachable.ts";
import { type ShellSpec, workspaceIdOf } from "../common/workspace-spec.ts";
import type { ShellCarrier } from "./open-shell.ts";
import { ShellConnection } from "./shell-connection.ts";
import { shellWorkspace } from "./shell-workspace.ts";

/** How long output is read after the end of the program that carries it. */
const lastWordsMs = 300;

interface ShellConnectOptions
  extends Pick<CarrierOptions, "environment" | "keyVariables" | "namedVariables"> {
  readonly processes: ProcessRegistry;
  readonly onLost: (reason: string) => void;
  readonly limitMs: number;
  readonly signal: AbortSignal;
}

/** Opens connections to the workspace of a spec, each after the previous one was lost. */
export function shellConnector(
  spec: ShellSpec,
): (options: ShellConnectOptions) => Promise<{ readonly workspace: Workspace }> {
  let last: ShellConnection | undefined;
  return async ({ onLost, limitMs, signal, ...options }) => {
    const keyVariables = options.keyVariables ?? [...keyVariableNames()];
    const connection = await opened(spec, {
      start: async (argument) =>
        carried(await startCarrierProgram({ ...options, argv: [...spec.shell, argument] })),
      limitMs,
      signal,
      orphans: last?.orphans ?? [],
      keyVariables: [...keyVariables, "TAU_STORE"],
    });
    last = connection;
    void connection.lost.then((error) => onLost(error.message.replace(/^workspace lost: /u, "")));
    return { workspace: shellWorkspace(spec.id ?? workspaceIdOf(spec), spec.cwd, connection) };
  };
}

async function opened(
  spec: ShellSpec,
  options: Parameters<typeof ShellConnection.open>[0],
): Promise<ShellConnection> {
  try {
    return await ShellConnection.open(options);
  } catch (error) {
    if (isWorkspaceError(error, "aborted")) throw error;
    throw unreachable(spec, errorMessage(error).replace(/^workspace lost: /u, ""));
  }
}

function carried(program: CarrierProgram): ShellCarrier {
  const { stdout, stderr } = program;
  stderr.pause();
  const closed = Promise.all(
    [stdout, stderr].map((stream) => new Promise((resolve) => stream.once("close", resolve))),
  );
  return {
    stdout,
    stderr,
    write: (bytes) => program.write(bytes),
    endInput: () => program.endInput(),
    lastLine: () => program.lastLine(),
    ended: program.ended.then(async (reason) => {
      await within(lastWordsMs, closed);
      return reason;
    }),
    stop: () => program.stop(),
  };
}

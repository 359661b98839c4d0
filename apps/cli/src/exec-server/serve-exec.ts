import { fstatSync } from "node:fs";
import { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import {
  EXEC_PROTOCOL_VERSION,
  type ExecServerReady,
  encodeFrame,
  FrameLines,
  WorkspaceServer,
} from "@tau-agent/rpc-protocol/workspace";
import { enclosingWorkspace, keyVariableNames, type LocalWorkspace } from "@tau-agent/system";
import type { ExecServerOptions } from "./exec-server-options.ts";

/** How long open operations may take to end after the client has left. */
const endMs = 2_000;
const signalExitCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Serves this machine as a workspace on stdin and stdout (decision 62) until stdin ends.
 *
 * @param open creates the workspace of this machine
 */
export async function serveExec(
  options: ExecServerOptions,
  open: (options: ExecServerOptions & { readonly environment: Environment }) => LocalWorkspace,
): Promise<void> {
  const environment = withoutKeys(process.env);
  const local = open({ ...options, environment });
  const workspace = enclosingWorkspace(local, environment);
  const output = asyncStdout();
  const send = sender(output);
  const openUpload = workspace.openUpload.bind(workspace);
  const server = new WorkspaceServer(workspace, send, { openUpload });
  let isEnding = false;
  const end = (code: number): void => {
    if (isEnding) return;
    isEnding = true;
    const exit = async (): Promise<never> => {
      await workspace.dispose();
      process.exit(code);
    };
    setTimeout(() => void exit(), endMs);
    void server.end().then(exit, exit);
  };
  for (const [signal, code] of Object.entries(signalExitCodes)) process.on(signal, () => end(code));
  output.on("error", () => end(0));
  const { shell, platform, homeDirectory, temporaryDirectory } = await workspace.describe();
  const ready: ExecServerReady = {
    type: "ready",
    protocolVersion: EXEC_PROTOCOL_VERSION,
    ...{ platform, homeDirectory, temporaryDirectory, shell },
    pid: process.pid,
    cwd: workspace.cwd,
    capabilities: {
      search: true,
      sandbox: platform !== "win32",
      durable: workspace.durable !== undefined,
    },
  };
  void send(ready);
  takeFrames(process.stdin, server, () => end(0));
}

function takeFrames(input: Readable, server: WorkspaceServer, onEnd: () => void): void {
  const lines = new FrameLines();
  input.on("data", (bytes: Buffer) => {
    for (const frame of lines.push(bytes)) server.take(frame);
  });
  for (const event of ["end", "close", "error"]) input.on(event, onEnd);
}

/** A promise means that the sender should wait, because the reader is slow. */
function sender(output: Writable): (frame: object) => Promise<void> | undefined {
  let waiting: Promise<void> | undefined;
  return (frame) => {
    if (output.write(encodeFrame(frame))) return undefined;
    waiting ??= new Promise<void>((resolve) => {
      output.once("drain", resolve);
      output.once("close", resolve);
    }).then(() => {
      waiting = undefined;
    });
    return waiting;
  };
}

/**
 * A stdout that never blocks. `process.stdout` writes to a pipe synchronously: a slow reader would stop
 * everything, including the message that cancels the command flooding it.
 */
function asyncStdout(): Writable {
  const status = fstatSync(1);
  if (process.platform === "win32" || !(status.isFIFO() || status.isSocket()))
    return process.stdout;
  return new Socket({ fd: 1, readable: false, writable: true });
}

/** The server's commands inherit neither provider keys nor the address of a store, which includes its password. */
function withoutKeys(variables: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { TAU_STORE: _, ...rest } = variables;
  for (const name of keyVariableNames()) delete rest[name];
  return rest;
}

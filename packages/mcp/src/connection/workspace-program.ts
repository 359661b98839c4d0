import { PassThrough } from "node:stream";
import { errorMessage } from "@tau-agent/rpc-protocol/plain";
import type { Workspace, WorkspaceExit, WorkspaceProcess } from "@tau-agent/rpc-protocol/workspace";
import type { ServerProgram } from "./stdio-transport.ts";

interface ProgramRequest {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Added to the variables of the workspace. */
  readonly variables: Readonly<Record<string, string>>;
}

/**
 * Starts a server in a workspace.
 *
 * @throws {WorkspaceError} the server could not be started
 */
export async function startInWorkspace(
  workspace: Pick<Workspace, "spawn">,
  { file, args, cwd, variables }: ProgramRequest,
): Promise<ServerProgram> {
  const streams = { stdout: new PassThrough(), stderr: new PassThrough() };
  const process = await workspace.spawn({
    command: [file, ...args],
    ...{ cwd, environment: variables, stdin: "open" },
    onOutput: (bytes, stream) => written(streams[stream], bytes),
  });
  const ended = process.done.then(inWords, errorMessage).finally(() => {
    for (const stream of Object.values(streams)) stream.end();
  });
  return {
    ...streams,
    ended,
    startFailure: () => undefined,
    write: (text) => process.write(Buffer.from(text)),
    stop: (graceMs) => stop(process, ended, graceMs),
  };
}

/** Holds the program back while its output is not read. */
function written(stream: PassThrough, bytes: Uint8Array): Promise<void> | undefined {
  if (stream.write(bytes)) return undefined;
  return new Promise((resolve) => {
    stream.once("drain", resolve).once("close", resolve);
  });
}

const inWords = ({ exitCode, signal }: WorkspaceExit): string =>
  exitCode === null ? `signal ${signal ?? "unknown"}` : `exit code ${exitCode}`;

async function stop(process: WorkspaceProcess, ended: Promise<string>, graceMs: number) {
  // A lost connection has ended the program, or will.
  const quietly = () => {};
  await process.endInput().catch(quietly);
  const timer = setTimeout(() => void process.kill("SIGKILL").catch(quietly), graceMs);
  await ended;
  clearTimeout(timer);
}

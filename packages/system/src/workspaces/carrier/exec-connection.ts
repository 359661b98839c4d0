import {
  EXEC_PROTOCOL_VERSION,
  type ExecServerReady,
  encodeFrame,
  FramedWorkspace,
  FrameLines,
} from "@tau-agent/rpc-protocol/workspace";
import { unlessAborted } from "../../base/unless-aborted.ts";
import { within } from "../../base/within.ts";
import type { ProcessRegistry } from "../../processes/process-registry.ts";
import type { CarrierOptions } from "../common/carrier-options.ts";
import { type CarrierProgram, startCarrierProgram } from "../common/carrier-program.ts";
import { unreachable } from "../common/unreachable.ts";
import { type CommandSpec, workspaceIdOf } from "../common/workspace-spec.ts";

/** How much a program may print before it is ready, such as a banner or the output of `.bashrc`. */
const maxNoiseBytes = 64 * 1024;
/** Larger than any first frame. */
const maxReadyBytes = 64 * 1024;
/** How long output is still read after the end of a program, if other processes hold its pipe. */
const drainMs = 500;
/** How long a program may take to end after its input ended. */
const endMs = 2_000;

export interface ConnectionRequest extends CarrierOptions {
  readonly processes: ProcessRegistry;
  /** Called once when an established connection is lost. */
  readonly onLost: (reason: string) => void;
  readonly connectMs: number;
}

/** One run of a program that speaks the protocol of decision 62. */
export interface ExecConnection {
  readonly workspace: FramedWorkspace;
  readonly canSearch: boolean;
}

type Chunks = AsyncIterator<Buffer, unknown>;

/**
 * Starts the program and waits until it is ready.
 *
 * @throws {ProtocolError} `workspace_unreachable`, with its last output
 */
export async function connectExec(
  spec: CommandSpec,
  request: ConnectionRequest,
): Promise<ExecConnection> {
  let program: CarrierProgram;
  try {
    program = await startCarrierProgram({ ...request, argv: spec.command });
  } catch (error) {
    throw unreachable(spec, error);
  }
  const lines = new FrameLines();
  const chunks: Chunks = program.stdout.iterator({ destroyOnReturn: false });
  try {
    const { ready, rest } = await becomesReady(program, chunks, lines, request);
    return serve({ spec, program, chunks, lines, rest, ready, request });
  } catch (error) {
    program.stop();
    throw unreachable(spec, error, program.lastLine());
  }
}

interface Beginning {
  readonly ready: ExecServerReady;
  /** The data that followed it immediately. */
  readonly rest: readonly unknown[];
}

async function becomesReady(
  program: CarrierProgram,
  chunks: Chunks,
  lines: FrameLines,
  { connectMs, signal }: ConnectionRequest,
): Promise<Beginning> {
  const ready = within(connectMs, readReady(program, chunks, lines), () => {
    throw new Error(`it was not ready after ${connectMs / 1000} s`);
  });
  return unlessAborted(ready, signal, () => new Error("it was given up"));
}

async function readReady(
  program: CarrierProgram,
  chunks: Chunks,
  lines: FrameLines,
): Promise<Beginning> {
  let noise = 0;
  let line = 0;
  for (;;) {
    const { value, done } = await chunks.next().catch(() => ({ value: undefined, done: true }));
    if (done || !(value instanceof Buffer)) throw new Error(await endOf(program));
    for (let from = 0; from < value.length; ) {
      const feed = value.indexOf("\n", from);
      const piece = value.subarray(from, feed === -1 ? value.length : feed + 1);
      from += piece.length;
      const [frame] = lines.push(piece);
      if (frame?.type === "ready") {
        return { ready: checkReady(frame), rest: [...lines.push(value.subarray(from))] };
      }
      program.drop(piece);
      line += piece.length;
      if (noise + line <= maxNoiseBytes + (feed === -1 ? maxReadyBytes : 0)) {
        if (feed === -1) continue;
        noise += line;
        line = 0;
      } else throw new Error("it printed more than 64 KiB and was not ready");
    }
  }
}

async function endOf(program: CarrierProgram): Promise<string> {
  const how = await within(drainMs, program.ended);
  return how === undefined ? "it closed its output" : `it ended with ${how}`;
}

function checkReady(frame: Readonly<Record<string, unknown>>): ExecServerReady {
  if (frame.protocolVersion !== EXEC_PROTOCOL_VERSION) {
    const version = JSON.stringify(frame.protocolVersion) ?? "none";
    const text = `it speaks version ${version} of the protocol, not ${EXEC_PROTOCOL_VERSION}`;
    throw new Error(text);
  }
  return frame as unknown as ExecServerReady;
}

interface Parts extends Pick<Beginning, "ready" | "rest"> {
  readonly spec: CommandSpec;
  readonly program: CarrierProgram;
  readonly chunks: Chunks;
  readonly lines: FrameLines;
  readonly request: ConnectionRequest;
}

function serve(parts: Parts): ExecConnection {
  const { spec, program, ready, request } = parts;
  const canSearch = ready.capabilities?.search === true;
  const workspace = new FramedWorkspace({
    id: workspaceIdOf(spec),
    cwd: spec.cwd,
    canSearch,
    canEnclose: ready.capabilities?.sandbox === true,
    isDurable: ready.capabilities?.durable === true,
    send: (frame) => void program.write(encodeFrame(frame)),
    onLost: (reason) => {
      program.stop();
      request.onLost(reason);
    },
    close: async () => {
      program.endInput();
      await within(endMs, program.ended);
      program.stop();
    },
  });
  void follow(parts, workspace);
  return { workspace, canSearch };
}

/** Passes on what the program sends until it ends. */
async function follow(parts: Parts, workspace: FramedWorkspace): Promise<void> {
  const { program, chunks, lines, rest } = parts;
  const read = async (): Promise<void> => {
    for (const frame of rest) await workspace.take(frame);
    for (;;) {
      const { value, done } = await chunks.next();
      if (done || !(value instanceof Buffer)) return;
      workspace.heard();
      for (const frame of lines.push(value)) await workspace.take(frame);
    }
  };
  const reading = read().catch(() => {});
  await Promise.race([reading, program.ended.then(() => within(drainMs, reading))]);
  const said = program.lastLine();
  const how = await endOf(program);
  workspace.lose(said === undefined ? how : `${how}; it said: ${said}`);
}

import { resolve } from "node:path";
import {
  isTimed,
  type OutputStream,
  type ProcessRegistry,
  runProcess,
  type Sandbox,
} from "@tau-agent/system";
import type { ExecOptions, ExecResult } from "../api/api.ts";
import { reasonOf } from "../api/errors.ts";

export interface ExecEnvironment {
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly processes: ProcessRegistry;
  readonly sandbox?: Sandbox | undefined;
}

const defaultMaxBytes = 10 * 1024 * 1024;

/**
 * Runs a program and returns its output. Timeout and abort kill it with everything it started.
 * Never rejects: if it cannot be started, the code is 1 and `stderr` has the reason.
 */
export async function execCommand(
  environment: ExecEnvironment,
  command: { readonly file: string; readonly args: readonly string[] },
  options: ExecOptions = {},
): Promise<ExecResult> {
  const output = { stdout: new Capture(options.maxBuffer), stderr: new Capture(options.maxBuffer) };
  const result = (code: number, killed: boolean): ExecResult => ({
    stdout: output.stdout.text(),
    stderr: output.stderr.text(),
    code,
    killed,
    truncated: output.stdout.isTruncated || output.stderr.isTruncated,
  });
  try {
    const outcome = await runProcess({
      file: command.file,
      args: command.args,
      cwd: resolve(environment.cwd, options.cwd ?? "."),
      variables: defined({ ...environment.environment, ...options.env }),
      processes: environment.processes,
      sandbox: environment.sandbox,
      onOutput: (chunk: Buffer, stream: OutputStream) => output[stream].add(chunk),
      signal: options.signal,
      timeoutMs: isTimed(options.timeout) ? options.timeout : undefined,
    });
    if (outcome.kind === "exited") return result(outcome.exitCode, false);
    return result(1, outcome.kind !== "signalled");
  } catch (error) {
    const failed = result(1, false);
    return { ...failed, stderr: failed.stderr + reasonOf(error) };
  }
}

/** The start of a stream, in bounded memory. */
class Capture {
  readonly #maxBytes: number;
  readonly #pieces: Buffer[] = [];
  #sizeBytes = 0;
  isTruncated = false;

  constructor(maxBytes = defaultMaxBytes) {
    this.#maxBytes = maxBytes;
  }

  add(chunk: Buffer): undefined {
    const room = this.#maxBytes - this.#sizeBytes;
    if (chunk.length > room) this.isTruncated = true;
    if (room <= 0) return;
    const piece = Buffer.from(chunk.subarray(0, room));
    this.#pieces.push(piece);
    this.#sizeBytes += piece.length;
  }

  text(): string {
    return new TextDecoder().decode(Buffer.concat(this.#pieces), { stream: this.isTruncated });
  }
}

function defined(variables: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const entries = Object.entries(variables).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Record<string, string>;
}

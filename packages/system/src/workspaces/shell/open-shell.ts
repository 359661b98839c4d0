import type { Readable } from "node:stream";
import { WorkspaceError } from "@tau-agent/rpc-protocol/workspace";
import { Mark, probe, startArgument } from "./shell-text.ts";

/** A program started with a spec's argument list and one more argument. */
export interface ShellCarrier {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Writes to its input; never fails, because {@link ended} reports the problem. */
  write(bytes: Uint8Array): Promise<void>;
  endInput(): void;
  /** The last line of its own output. */
  lastLine(): string | undefined;
  /** Resolves with the way it ended, in words. */
  readonly ended: Promise<string>;
  stop(): void;
}

/** Starts a spec's argument list with one more argument. */
export type StartCarrier = (argument: string) => Promise<ShellCarrier>;

/** A shell that has printed its mark and waits for requests. */
export interface OpenShell {
  readonly carrier: ShellCarrier;
  /** Marks the end of a request and of its answer. */
  readonly mark: string;
}

/** How many bytes a carrier may print before the mark. */
const maxNoise = 1024 * 1024;

/**
 * Starts a shell and drops output before its mark, such as banners.
 *
 * @throws {WorkspaceError} `lost`, with the carrier's last line, or `aborted`
 */
export async function openShell(
  start: StartCarrier,
  limitMs: number,
  signal?: AbortSignal,
): Promise<OpenShell> {
  signal?.throwIfAborted();
  const mark = new Mark();
  const carrier = await start(startArgument(mark));
  const word = Buffer.from(mark.word);
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => undefined);
  const timer = setTimeout(() => {
    reject(lost(`it did not start a shell within ${limitMs / 1000} s`, carrier));
  }, limitMs);
  const onAbort = () => reject(new WorkspaceError("aborted"));
  signal?.addEventListener("abort", onAbort, { once: true });
  void carrier.ended.then((reason) => reject(lost(reason, carrier)));
  try {
    await Promise.race([
      promise,
      Promise.all([
        skipTo(carrier.stdout, Buffer.concat([word, probe]), word),
        skipTo(carrier.stderr, Buffer.concat([word, Buffer.from("\n")]), word),
      ]),
    ]);
    return { carrier, mark: mark.word };
  } catch (error) {
    carrier.stop();
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}

/** The error of a carrier that ended or cannot be used. */
export function lost(reason: string, carrier?: Pick<ShellCarrier, "lastLine">): WorkspaceError {
  const line = carrier?.lastLine();
  return new WorkspaceError(
    "lost",
    `workspace lost: ${line === undefined ? reason : `${reason}: ${line}`}`,
  );
}

/** Reads a stream up to the end of a line, and leaves the rest unread. */
function skipTo(stream: Readable, line: Buffer, word: Buffer): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let seen: Buffer = Buffer.alloc(0);
  const onData = (chunk: Buffer) => {
    seen = Buffer.concat([seen, chunk]);
    const at = seen.indexOf(word);
    if (at < 0) {
      if (seen.length > maxNoise) {
        finish();
        reject(
          new WorkspaceError(
            "lost",
            "workspace lost: it prints without end before the shell starts",
          ),
        );
      }
      return;
    }
    if (
      seen.length < at + line.length &&
      line.subarray(0, seen.length - at).equals(seen.subarray(at))
    )
      return;
    finish();
    if (!seen.subarray(at, at + line.length).equals(line)) {
      const text =
        "it changes the bytes that pass through it; start it without a terminal (ssh -T, docker exec -i)";
      reject(new WorkspaceError("lost", `workspace lost: ${text}`));
      return;
    }
    const rest = seen.subarray(at + line.length);
    if (rest.length > 0) stream.unshift(rest);
    resolve();
  };
  const finish = () => {
    stream.off("data", onData);
    stream.pause();
  };
  stream.on("data", onData);
  stream.resume();
  return promise;
}

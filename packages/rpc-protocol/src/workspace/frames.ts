import { type JsonObject, parseObject } from "../vocabulary/json-object.ts";
import { errorMessage } from "../vocabulary/system-limit.ts";
import { encodeLine, LineDecoder } from "../wire/jsonl.ts";
import type { ExecClientFrame, ExecServerFrame, ExecServerReady } from "./frame-schemas.ts";
import { WorkspaceError, type WorkspaceErrorCode, workspaceErrorTexts } from "./workspace-error.ts";

/** The version of the frames. */
export const EXEC_PROTOCOL_VERSION = 1;
/** The maximum line length in either direction, without the line feed. */
export const MAX_FRAME_BYTES = 8 * 1024 * 1024;
/** The maximum size of file contents or output in one frame. */
export const MAX_PIECE_BYTES = 4 * 1024 * 1024;
/** The maximum size of a file that is read or written as a whole. */
export const MAX_FILE_BYTES = 2 * 1024 * 1024 * 1024;

/** The id of a request; a safe integer or a string. */
export type FrameId = string | number;

/** Sends a frame; a returned promise asks the sender to delay further frames that can wait. */
type SendFrame<Frame> = (frame: Frame) => void | Promise<void>;

export type SendToServer = SendFrame<ExecClientFrame>;
export type SendToClient = SendFrame<Exclude<ExecServerFrame, ExecServerReady>>;

export function isFrameId(value: unknown): value is FrameId {
  return typeof value === "string" || Number.isSafeInteger(value);
}

/**
 * Encodes a frame as a line.
 *
 * @throws {WorkspaceError} `too_large`: it would exceed the maximum line length
 */
export function encodeFrame(frame: object): string {
  const line = encodeLine(frame);
  if (line.length * 3 <= MAX_FRAME_BYTES || Buffer.byteLength(line) - 1 <= MAX_FRAME_BYTES)
    return line;
  throw new WorkspaceError("too_large", "Larger than a frame may be (8 MiB)");
}

/** Splits bytes into frames; invalid lines are undefined. */
export class FrameLines {
  readonly #decoder = new LineDecoder(MAX_FRAME_BYTES);

  *push(bytes: Uint8Array): Generator<JsonObject | undefined, void> {
    for (const line of this.#decoder.push(bytes)) {
      yield "text" in line ? parseObject(line.text) : undefined;
    }
  }
}

/** Encodes bytes as base64 without copying them first. */
export function encodeBytes({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("base64");
}

/** The maximum length of a message or path in an error. */
const maxMessageLength = 4096;
const maxPathLength = 65_536;

export interface FrameError {
  code: WorkspaceErrorCode;
  message: string;
  path?: string;
}

/** Converts an error for a frame; an error that is not a workspace error becomes `failed`. */
export function encodeError(error: unknown): FrameError {
  const { code, message, path } =
    error instanceof WorkspaceError
      ? error
      : new WorkspaceError("failed", errorMessage(error) || undefined);
  return {
    code,
    message: message.slice(0, maxMessageLength),
    ...(path === undefined || path.length > maxPathLength ? {} : { path }),
  };
}

/** Reads the error in a frame, whatever another program has sent. */
export function decodeError(value: unknown): WorkspaceError {
  const { code, message, path } = Object(value) as Readonly<Record<string, unknown>>;
  const isKnown = typeof code === "string" && Object.hasOwn(workspaceErrorTexts, code);
  const known = isKnown ? (code as WorkspaceErrorCode) : "failed";
  const text = typeof message === "string" && message !== "" ? message : undefined;
  const unknownCode = isKnown || typeof code !== "string" ? undefined : `Failed with ${code}`;
  return new WorkspaceError(known, text ?? unknownCode ?? workspaceErrorTexts[known], {
    path: typeof path === "string" ? path : undefined,
  });
}

import { type JsonObject, parseObject } from "../vocabulary/json-object.ts";
import { errorMessage } from "../vocabulary/system-limit.ts";
import { encodeLine, LineDecoder } from "../wire/jsonl.ts";
import type { ExecClientFrame, ExecServerFrame, ExecServerReady } from "./frame-schemas.ts";
import { WorkspaceError, type WorkspaceErrorCode, workspaceErrorTexts } from "./workspace-error.ts";

/** The version of the frames. */
export const EXEC_PROTOCOL_VERSION = 1;
/** The largest line, either way, without its line feed. */
export const MAX_FRAME_BYTES = 8 * 1024 * 1024;
/** The most bytes of a file or of output in one frame. */
export const MAX_PIECE_BYTES = 4 * 1024 * 1024;
/** The largest file that is read or written whole. */
export const MAX_FILE_BYTES = 2 * 1024 * 1024 * 1024;

/** Names a request; a safe integer or a text. */
export type FrameId = string | number;

/** Sends a frame; a promise asks to wait before more is sent that can wait. */
type SendFrame<Frame> = (frame: Frame) => void | Promise<void>;

export type SendToServer = SendFrame<ExecClientFrame>;
export type SendToClient = SendFrame<Exclude<ExecServerFrame, ExecServerReady>>;

export function isFrameId(value: unknown): value is FrameId {
  return typeof value === "string" || Number.isSafeInteger(value);
}

/**
 * A frame as a line.
 *
 * @throws {WorkspaceError} `too_large`: it would be longer than a line may be
 */
export function encodeFrame(frame: object): string {
  const line = encodeLine(frame);
  if (line.length * 3 <= MAX_FRAME_BYTES || Buffer.byteLength(line) - 1 <= MAX_FRAME_BYTES)
    return line;
  throw new WorkspaceError("too_large", "Larger than a frame may be (8 MiB)");
}

/** Cuts bytes into frames; other lines are undefined. */
export class FrameLines {
  readonly #decoder = new LineDecoder(MAX_FRAME_BYTES);

  *push(bytes: Uint8Array): Generator<JsonObject | undefined, void> {
    for (const line of this.#decoder.push(bytes)) {
      yield "text" in line ? parseObject(line.text) : undefined;
    }
  }
}

/** Bytes as base64, without a copy of them. */
export function encodeBytes({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("base64");
}

/** How much of a message or path is sent. */
const maxMessageLength = 4096;
const maxPathLength = 65_536;

export interface FrameError {
  code: WorkspaceErrorCode;
  message: string;
  path?: string;
}

/** An error for a frame; one of no workspace is `failed`. */
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

/** The error of a frame, whatever another program put there. */
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

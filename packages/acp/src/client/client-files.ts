import { type AgentContext, type ClientCapabilities, RequestError } from "@agentclientprotocol/sdk";
import {
  type Workspace,
  type WorkspaceAccess,
  WorkspaceError,
  type WorkspaceReadOptions,
  type WorkspaceWriteOptions,
} from "@tau-agent/rpc-protocol/workspace";
import { detectImageType } from "@tau-agent/system";

/** How many bytes of a file are read to detect an image. */
const HEAD_BYTES = 64;

export interface ClientPlace {
  readonly client: AgentContext;
  readonly sessionId: string;
  /** Aborts with the current run; undefined while the session is idle. */
  readonly signal: () => AbortSignal | undefined;
}

/** The text files of a workspace as the client has them, if it offers that: its buffers may be unsaved. */
export function clientFiles(
  local: Workspace,
  place: ClientPlace,
  capabilities: ClientCapabilities | undefined,
): Pick<Workspace, "read" | "write"> {
  const { readTextFile, writeTextFile } = capabilities?.fs ?? {};
  return {
    read: readTextFile
      ? (path, options) => readText(local, place, path, options)
      : (path, options) => local.read(path, options),
    write: writeTextFile
      ? (path, bytes, options) => writeText(local, place, { path, bytes, options })
      : (path, bytes, options) => local.write(path, bytes, options),
  };
}

/** The client can only read text, so images are read from the disk. */
async function readText(
  local: Workspace,
  { client, sessionId, signal: runSignal }: ClientPlace,
  path: string,
  options: WorkspaceReadOptions = {},
): Promise<Uint8Array> {
  const { signal = runSignal(), within, offset = 0, length } = options;
  const head = await local.read(path, { length: HEAD_BYTES, within, signal }).catch(unlessRefused);
  if (head !== undefined && detectImageType(Buffer.from(head)) !== undefined) {
    return local.read(path, options);
  }
  const answer = await client
    .request("fs/read_text_file", { sessionId, path }, untilAborted(signal))
    .catch((error: unknown) => {
      throw fileFailure(error, "read", path);
    });
  const { content } = Object(answer) as { readonly content?: unknown };
  if (typeof content !== "string") {
    throw new WorkspaceError("failed", `The editor could not read ${path}: it gave no text`, {
      path,
    });
  }
  const bytes = Buffer.from(content);
  return bytes.subarray(offset, length === undefined ? undefined : offset + length);
}

async function writeText(
  local: Workspace,
  { client, sessionId, signal: runSignal }: ClientPlace,
  file: {
    readonly path: string;
    readonly bytes: Uint8Array;
    readonly options: WorkspaceWriteOptions | undefined;
  },
): Promise<void> {
  const { path, bytes, options = {} } = file;
  const content = textOf(bytes);
  if (content === undefined) return local.write(path, bytes, options);
  const { signal = runSignal(), within } = options;
  await refuseOthers(local, path, { signal, within });
  await client
    .request("fs/write_text_file", { sessionId, path, content }, untilAborted(signal))
    .catch((error: unknown) => {
      throw fileFailure(error, "write", path);
    });
}

/** Refuses folders and special files, as a write to the disk would. */
async function refuseOthers(
  local: Workspace,
  path: string,
  options: WorkspaceAccess,
): Promise<void> {
  const found = await local.stat(path, options).catch(unlessRefused);
  if (found?.kind === "directory") throw new WorkspaceError("is_a_directory", undefined, { path });
  if (found?.kind === "other") throw new WorkspaceError("failed", "Not a regular file", { path });
}

/** For `catch`: ignores a failure on the disk, since the client may have a file that the disk lacks. */
function unlessRefused(error: unknown): undefined {
  if (error instanceof WorkspaceError && error.code === "not_allowed") throw error;
  return undefined;
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Request options that stop waiting for the answer once the run is aborted. */
export function untilAborted(signal: AbortSignal | undefined) {
  return signal === undefined ? {} : { cancellationSignal: signal, stopWaitingOnCancel: true };
}

/** Distinguishes a missing file from other failures, as the disk does. */
function fileFailure(error: unknown, action: string, path: string): Error {
  const options = { path, cause: error };
  if (error instanceof RequestError && error.code === -32002) {
    return new WorkspaceError("not_found", undefined, options);
  }
  const reason = error instanceof Error ? error.message : String(error);
  return new WorkspaceError("failed", `The editor could not ${action} ${path}: ${reason}`, options);
}

import type { Workspace, WorkspaceError } from "@tau-agent/rpc-protocol/workspace";
import type { ToolEnvironment } from "@tau-agent/system";
import { reachOf } from "./file-problem.ts";

/** The maximum bytes in one answer of a remote workspace. */
const answerBytes = 4 * 1024 * 1024;
/** On this machine, another read is cheap, and holding everything in memory is not. */
const localBytes = 1024 * 1024;

/** How much to read at once; a shorter chunk means the end of a file. */
export function chunkBytesOf({ id }: Pick<Workspace, "id">): number {
  return id === "local" ? localBytes : answerBytes;
}

/** The bytes of a file from the beginning, in chunks; at least one chunk. */
export async function* readChunks(
  path: string,
  environment: Pick<ToolEnvironment, "workspace" | "sandbox">,
  signal?: AbortSignal,
): AsyncGenerator<Buffer> {
  const within = reachOf("read", environment);
  const chunkBytes = chunkBytesOf(environment.workspace);
  for (let offset = 0; ; offset += chunkBytes) {
    const range = offset === 0 ? {} : { offset };
    const bytes = await environment.workspace.read(path, {
      ...range,
      ...{ length: chunkBytes, within, signal },
    });
    yield Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    if (bytes.length < chunkBytes) return;
  }
}

/** The bytes of a file; undefined if there are more than the limit. */
export async function readWhole(
  path: string,
  environment: Pick<ToolEnvironment, "workspace" | "sandbox">,
  limits: { readonly maxBytes: number; readonly signal?: AbortSignal | undefined },
): Promise<Buffer | undefined> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of readChunks(path, environment, limits.signal)) {
    length += chunk.length;
    if (length > limits.maxBytes) return undefined;
    parts.push(chunk);
  }
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts, length);
}

/** Whether a call failed because its path is neither a file nor a folder. */
export async function isOtherKind(
  { path }: WorkspaceError,
  { workspace }: Pick<ToolEnvironment, "workspace">,
): Promise<boolean> {
  if (path === undefined) return false;
  const found = await workspace.stat(path).catch(() => undefined);
  return found?.kind === "other";
}

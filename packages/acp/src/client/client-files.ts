import { type AgentContext, type ClientCapabilities, RequestError } from "@agentclientprotocol/sdk";
import { ToolError } from "@tau-agent/agent";
import type { FileAccess } from "@tau-agent/coding-agent";

export interface ClientPlace {
  readonly client: AgentContext;
  readonly sessionId: string;
  /** Aborted with the current run; undefined while idle. */
  readonly signal: () => AbortSignal | undefined;
}

/** The files as the client has them; undefined where it offers none. */
export function clientFiles(
  place: ClientPlace,
  capabilities: ClientCapabilities | undefined,
): FileAccess | undefined {
  const { readTextFile, writeTextFile } = capabilities?.fs ?? {};
  if (!readTextFile && !writeTextFile) return undefined;
  return {
    readText: readTextFile ? (path, signal) => readText(place, path, signal) : undefined,
    writeText: writeTextFile ? (path, text) => writeText(place, path, text) : undefined,
  };
}

async function readText(
  { client, sessionId, signal: runSignal }: ClientPlace,
  path: string,
  signal: AbortSignal | undefined = runSignal(),
): Promise<string> {
  const answer = await client
    .request("fs/read_text_file", { sessionId, path }, untilAborted(signal))
    .catch((error: unknown) => {
      throw fileFailure(error, "read", path);
    });
  const { content } = Object(answer) as { readonly content?: unknown };
  if (typeof content === "string") return content;
  throw new ToolError(`The editor could not read ${path}: it gave no text`);
}

async function writeText(
  { client, sessionId, signal }: ClientPlace,
  path: string,
  content: string,
): Promise<void> {
  await client
    .request("fs/write_text_file", { sessionId, path, content }, untilAborted(signal()))
    .catch((error: unknown) => {
      throw fileFailure(error, "write", path);
    });
}

/** A request whose answer is not waited for once the run is aborted. */
export function untilAborted(signal: AbortSignal | undefined) {
  return signal === undefined ? {} : { cancellationSignal: signal, stopWaitingOnCancel: true };
}

/** A missing file is told apart, as on the disk. */
function fileFailure(error: unknown, action: string, path: string): Error {
  if (error instanceof RequestError && error.code === -32002) {
    return Object.assign(new Error(error.message), { code: "ENOENT" });
  }
  const reason = error instanceof Error ? error.message : String(error);
  const text = `The editor could not ${action} ${path}: ${reason}`;
  return new ToolError(text, undefined, { cause: error });
}

import { errorMessage } from "@tau-agent/rpc-protocol/plain";
import {
  type Workspace,
  type WorkspaceDescription,
  WorkspaceError,
  type WorkspaceLimit,
} from "@tau-agent/rpc-protocol/workspace";
import { randomHex } from "../../base/random.ts";
import { unlessAborted } from "../../base/unless-aborted.ts";
import type { ShellAnswer } from "../shell/lane.ts";
import { operations } from "../shell/operations.ts";
import { needAbsolute, operation, orFailure, shellFiles } from "../shell/shell-files.ts";
import { placeScript, readPlace } from "../shell/shell-place.ts";
import { quote } from "../shell/shell-text.ts";
import { createSandboxCommand } from "./sandbox-command.ts";
import type { SandboxSession } from "./sandbox-session.ts";

/** Features that no sandbox session guarantees. */
const limits: readonly WorkspaceLimit[] = [
  "atomic-write",
  "binary-output",
  "environment-removal",
  "exit-signals",
  "file-mode",
  "kill-tree",
  "link-kinds",
  "link-removal",
  "modified-at-seconds",
  "odd-names",
  "side-by-side",
  "signals",
  "stdin",
  "streamed-output",
  "within",
];

async function called<Value>(
  signal: AbortSignal | undefined,
  work: () => PromiseLike<Value>,
): Promise<Value> {
  if (signal?.aborted) throw new WorkspaceError("aborted");
  try {
    const running = Promise.resolve(work());
    return await unlessAborted(running, signal, () => new WorkspaceError("aborted"));
  } catch (error) {
    if (error instanceof WorkspaceError) throw error;
    throw new WorkspaceError("failed", errorMessage(error), { cause: error });
  }
}

/** Runs shell functions with `sh`; output of the session before the mark is dropped. */
async function runIn(
  session: SandboxSession,
  script: string,
  signal?: AbortSignal,
): Promise<ShellAnswer> {
  const mark = `tau-${randomHex(8)}`;
  const command = `{ ${operations}${more} } 2>/dev/null\nprintf %s ${mark}\n${script}`;
  const process = await called(signal, () => session.spawn({ command }));
  const chunks: Uint8Array[] = [];
  const reading = (async () => {
    for await (const chunk of process.stdout) chunks.push(chunk);
  })();
  const unread = (async () => {
    for await (const _ of process.stderr);
  })();
  const work = async () => {
    const { exitCode } = await process.wait();
    await Promise.all([reading, unread]);
    return exitCode;
  };
  try {
    const status = await called(signal, work);
    const printed = Buffer.concat(chunks);
    const at = printed.indexOf(mark);
    if (at < 0) throw new WorkspaceError("failed", "The sandbox did not run the operation");
    return { status, body: printed.subarray(at + mark.length) };
  } catch (error) {
    if (signal?.aborted) void Promise.resolve(process.kill()).catch(() => undefined);
    throw error;
  }
}

/**
 * A workspace in a sandbox session of the AI SDK: bytes go through the session's file methods, everything
 * else is lines of `sh` for its `spawn`. The caller still owns the session.
 */
export function fromSandboxSession(
  session: SandboxSession,
  { id, cwd }: { readonly id: string; readonly cwd: string },
): Workspace {
  needAbsolute(cwd);
  let description: Promise<WorkspaceDescription> | undefined;

  const run = (script: string, signal?: AbortSignal) => runIn(session, script, signal);
  const text = async (script: string, path: string, signal: AbortSignal | undefined) =>
    orFailure(await run(script, signal), path).body.toString("utf8");

  const readDescription = async (): Promise<WorkspaceDescription> => {
    const answer = orFailure(await run(placeScript), cwd);
    return { ...readPlace(answer.body, false).description, limited: limits };
  };

  const describe: Workspace["describe"] = async ({ signal } = {}) => {
    if (signal?.aborted) throw new WorkspaceError("aborted");
    description ??= readDescription();
    description.catch(() => {
      description = undefined;
    });
    return description;
  };

  return {
    id,
    cwd,
    ...shellFiles(run),
    describe,
    async read(path, options = {}) {
      const { offset = 0, length, signal } = options;
      const real = await text(operation("t_opened", [path], options), path, signal);
      const bytes = await called(signal, () => session.readBinaryFile({ path: real }));
      if (bytes === null) throw new WorkspaceError("not_found", undefined, { path });
      return bytes.subarray(offset, length === undefined ? undefined : offset + length);
    },
    async write(path, bytes, options = {}) {
      const { signal } = options;
      const mode = (options.mode ?? 0o666).toString(8);
      const target = await text(operation("t_targeted", [path, mode], options), path, signal);
      const [real = "", folder = "", bits = ""] = target.split("\0");
      const temporary = `${folder.replace(/\/$/u, "")}/.tau-${randomHex(8)}.tmp`;
      await called(signal, () => session.writeBinaryFile({ path: temporary, content: bytes }));
      const words = [temporary, real, bits].map(quote).join(" ");
      await text(`( t_placed ${words} )`, path, signal);
    },
    async spawn(options) {
      const { command, environment = {}, signal } = options;
      const folder = options.cwd ?? cwd;
      needAbsolute(folder);
      if (signal?.aborted) throw new WorkspaceError("aborted");
      if (options.stdin === "open") {
        throw new WorkspaceError("unsupported", "Commands of a sandbox session have no input");
      }
      const { shell } = await describe();
      const words = typeof command === "string" ? [shell, "-c", command] : command;
      const [program] = words;
      if (program === undefined) throw new WorkspaceError("failed", "The command is empty");
      await text(`( t_ready ${quote(folder)} ${quote(program)} )`, program, signal);
      const entries = Object.entries(environment);
      const env = Object.fromEntries(
        entries.filter((entry): entry is [string, string] => entry[1] !== null),
      );
      const removed = entries.flatMap(([name, value]) => (value === null ? [name] : []));
      const unset = removed.length === 0 ? "" : `unset ${removed.map(quote).join(" ")}; `;
      const line = `${unset}${words.map(quote).join(" ")} </dev/null`;
      const request = { command: line, workingDirectory: folder, env };
      return createSandboxCommand(await called(signal, () => session.spawn(request)), options);
    },
  };
}

/** What is done in addition to the session's own file methods. */
const more = `
t_opened() { t_open "$1"; printf %s "$r"; }
t_targeted() { t_target "$1" "$2"; printf '%s\\0%s\\0%s' "$r" "$t" "$t_bits"; }
t_placed() {
  t=$1 r=$2 t_bits=$3
  t_folder=\${r%/*}
  trap 'rm -f "$t"' EXIT
  t_replace
}
t_ready() {
  [ -d "$1" ] || { [ -e "$1" ] && exit 12; t_absent "$1" 10 12; }
  cd "$1" || t_denied
  case $2 in */*) [ -e "$2" ] && exit 0 ;; esac
  command -v "$2" >/dev/null || exit 10
}
`;

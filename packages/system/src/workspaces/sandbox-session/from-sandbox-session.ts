import { errorMessage } from "@tau-agent/rpc-protocol/plain";
import {
  type Workspace,
  type WorkspaceAccess,
  type WorkspaceCall,
  type WorkspaceDescription,
  type WorkspaceEntry,
  WorkspaceError,
  type WorkspaceLimit,
  type WorkspaceProcess,
  type WorkspaceReadOptions,
  type WorkspaceRemoveOptions,
  type WorkspaceSpawnOptions,
  type WorkspaceStat,
  type WorkspaceStatOptions,
  type WorkspaceWriteOptions,
} from "@tau-agent/rpc-protocol/workspace";
import { randomHex } from "../../base/random.ts";
import { unlessAborted } from "../../base/unless-aborted.ts";
import type { ShellAnswer } from "../shell/lane.ts";
import { operations } from "../shell/operations.ts";
import { needAbsolute, operation, orFailure, ShellFiles } from "../shell/shell-files.ts";
import { placeScript, readPlace } from "../shell/shell-place.ts";
import { quote } from "../shell/shell-text.ts";
import { SandboxCommand } from "./sandbox-command.ts";
import type { SandboxSession } from "./sandbox-session.ts";

/** What no sandbox session promises. */
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

/**
 * A workspace in a sandbox session of the AI SDK, which is used as it is: bytes go through its file methods,
 * all else is lines of `sh` for its `spawn`. The session stays the caller's.
 */
export function fromSandboxSession(
  session: SandboxSession,
  { id, cwd }: { readonly id: string; readonly cwd: string },
): Workspace {
  return new SandboxWorkspace(session, id, cwd);
}

class SandboxWorkspace implements Workspace {
  readonly id: string;
  readonly cwd: string;
  readonly #session: SandboxSession;
  readonly #files: ShellFiles;
  #description: Promise<WorkspaceDescription> | undefined;

  constructor(session: SandboxSession, id: string, cwd: string) {
    needAbsolute(cwd);
    this.id = id;
    this.cwd = cwd;
    this.#session = session;
    this.#files = new ShellFiles((script, signal) => this.#run(script, signal));
  }

  async describe({ signal }: WorkspaceCall = {}): Promise<WorkspaceDescription> {
    if (signal?.aborted) throw new WorkspaceError("aborted");
    this.#description ??= this.#describe();
    this.#description.catch(() => {
      this.#description = undefined;
    });
    return this.#description;
  }

  stat(path: string, options?: WorkspaceStatOptions): Promise<WorkspaceStat | undefined> {
    return this.#files.stat(path, options);
  }

  list(path: string, options?: WorkspaceAccess): Promise<readonly WorkspaceEntry[]> {
    return this.#files.list(path, options);
  }

  async read(path: string, options: WorkspaceReadOptions = {}): Promise<Uint8Array> {
    const { offset = 0, length, signal } = options;
    const real = await this.#text(operation("t_opened", [path], options), path, signal);
    const bytes = await this.#call(signal, () => this.#session.readBinaryFile({ path: real }));
    if (bytes === null) throw new WorkspaceError("not_found", undefined, { path });
    return bytes.subarray(offset, length === undefined ? undefined : offset + length);
  }

  async write(path: string, bytes: Uint8Array, options: WorkspaceWriteOptions = {}): Promise<void> {
    const { signal } = options;
    const mode = (options.mode ?? 0o666).toString(8);
    const target = await this.#text(operation("t_targeted", [path, mode], options), path, signal);
    const [real = "", folder = "", bits = ""] = target.split("\0");
    const temporary = `${folder.replace(/\/$/u, "")}/.tau-${randomHex(8)}.tmp`;
    await this.#call(signal, () =>
      this.#session.writeBinaryFile({ path: temporary, content: bytes }),
    );
    const words = [temporary, real, bits].map(quote).join(" ");
    await this.#text(`( t_placed ${words} )`, path, signal);
  }

  remove(path: string, options?: WorkspaceRemoveOptions): Promise<void> {
    return this.#files.remove(path, options);
  }

  rename(from: string, to: string, options?: WorkspaceAccess): Promise<void> {
    return this.#files.rename(from, to, options);
  }

  createDirectory(path: string, options?: WorkspaceAccess): Promise<void> {
    return this.#files.createDirectory(path, options);
  }

  async spawn(options: WorkspaceSpawnOptions): Promise<WorkspaceProcess> {
    const { command, cwd = this.cwd, environment = {}, signal } = options;
    needAbsolute(cwd);
    if (signal?.aborted) throw new WorkspaceError("aborted");
    if (options.stdin === "open") {
      throw new WorkspaceError("unsupported", "Commands of a sandbox session have no input");
    }
    const { shell } = await this.describe();
    const words = typeof command === "string" ? [shell, "-c", command] : command;
    const [program] = words;
    if (program === undefined) throw new WorkspaceError("failed", "The command is empty");
    await this.#text(`( t_ready ${quote(cwd)} ${quote(program)} )`, program, signal);
    const entries = Object.entries(environment);
    const env = Object.fromEntries(
      entries.filter((entry): entry is [string, string] => entry[1] !== null),
    );
    const removed = entries.flatMap(([name, value]) => (value === null ? [name] : []));
    const unset = removed.length === 0 ? "" : `unset ${removed.map(quote).join(" ")}; `;
    const line = `${unset}${words.map(quote).join(" ")} </dev/null`;
    const request = { command: line, workingDirectory: cwd, env };
    const process = await this.#call(signal, () => this.#session.spawn(request));
    return new SandboxCommand(process, options);
  }

  async #describe(): Promise<WorkspaceDescription> {
    const answer = orFailure(await this.#run(placeScript, undefined), this.cwd);
    return { ...readPlace(answer.body, false).description, limited: limits };
  }

  async #text(script: string, path: string, signal: AbortSignal | undefined): Promise<string> {
    return orFailure(await this.#run(script, signal), path).body.toString("utf8");
  }

  /** Runs functions for `sh`; what the session prints before the mark is dropped. */
  async #run(script: string, signal: AbortSignal | undefined): Promise<ShellAnswer> {
    const mark = `tau-${randomHex(8)}`;
    const command = `{ ${operations}${more} } 2>/dev/null\nprintf %s ${mark}\n${script}`;
    const process = await this.#call(signal, () => this.#session.spawn({ command }));
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
      const status = await this.#call(signal, work);
      const printed = Buffer.concat(chunks);
      const at = printed.indexOf(mark);
      if (at < 0) throw new WorkspaceError("failed", "The sandbox did not run the operation");
      return { status, body: printed.subarray(at + mark.length) };
    } catch (error) {
      if (signal?.aborted) void Promise.resolve(process.kill()).catch(() => undefined);
      throw error;
    }
  }

  async #call<Value>(
    signal: AbortSignal | undefined,
    work: () => PromiseLike<Value>,
  ): Promise<Value> {
    if (signal?.aborted) throw new WorkspaceError("aborted");
    try {
      const running = Promise.resolve(work());
      if (signal === undefined) return await running;
      return await unlessAborted(running, signal, () => new WorkspaceError("aborted"));
    } catch (error) {
      if (error instanceof WorkspaceError) throw error;
      throw new WorkspaceError("failed", errorMessage(error), { cause: error });
    }
  }
}

/** What is done around the session's own file methods. */
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

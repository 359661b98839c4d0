import {
  type Workspace,
  type WorkspaceAccess,
  type WorkspaceEntry,
  WorkspaceError,
  type WorkspaceErrorCode,
  type WorkspaceFileKind,
  type WorkspaceReach,
  type WorkspaceStat,
} from "@tau-agent/rpc-protocol/workspace";
import type { ShellAnswer } from "./lane.ts";
import { nothingThere, outside, statusCodes } from "./operations.ts";
import { quote } from "./shell-text.ts";

/** Runs a line that calls functions of `operations`. */
export type RunOperation = (line: string, signal?: AbortSignal) => Promise<ShellAnswer>;

type FileMethods = "stat" | "list" | "read" | "remove" | "rename" | "createDirectory";

/** File operations through functions for `sh`, wherever these run. */
export function shellFiles(run: RunOperation): Pick<Workspace, FileMethods> {
  const answer = async (
    path: string,
    name: string,
    words: readonly string[],
    access: WorkspaceAccess = {},
  ): Promise<ShellAnswer> =>
    orFailure(await run(operation(name, words, access), access.signal), path);
  return {
    async stat(path, options) {
      const follow = options?.followLinks === false ? "0" : "1";
      const { status, body } = await answer(path, "t_stat", [path, follow], options);
      return status === nothingThere ? undefined : statOf(body);
    },
    async list(path, options) {
      const { body } = await answer(path, "t_list", [path], options);
      const entries: WorkspaceEntry[] = [];
      for (let start = 0; start < body.length; ) {
        const end = body.indexOf(0, start);
        if (end < 0) break;
        const kind = kinds[String.fromCharCode(body[start] ?? 0)] ?? "other";
        entries.push({ name: body.toString("utf8", start + 1, end), kind });
        start = end + 1;
      }
      return entries;
    },
    async read(path, options = {}) {
      const { offset = 0, length } = options;
      if (length === 0) {
        await answer(path, "t_open", [path], options);
        return new Uint8Array();
      }
      // Whole blocks: the only unit that `dd` supports on all systems.
      const block = length !== undefined && length <= 16_384 ? 4_096 : 65_536;
      const skip = Math.floor(offset / block);
      const before = offset - skip * block;
      const count = length === undefined ? "" : String(Math.ceil((before + length) / block));
      const words = [path, String(block), String(skip), count];
      const { body } = await answer(path, "t_read", words, options);
      return body.subarray(before, length === undefined ? undefined : before + length);
    },
    async remove(path, options) {
      const recursive = options?.recursive === true ? "1" : "0";
      await answer(path, "t_remove", [withoutSlash(path), recursive], options);
    },
    async rename(from, to, options) {
      await answer(from, "t_rename", [withoutSlash(from), withoutSlash(to)], options);
    },
    async createDirectory(path, options) {
      await answer(path, "t_create", [path], options);
    },
  };
}

const kinds: Readonly<Record<string, WorkspaceFileKind>> = {
  l: "symlink",
  f: "file",
  d: "directory",
  o: "other",
};

/** Calls one function in a subshell, with the limits of the workspace call. */
export function operation(
  name: string,
  words: readonly string[],
  { within }: WorkspaceAccess,
  before = "",
): string {
  for (const path of words.slice(0, name === "t_rename" ? 2 : 1)) needAbsolute(path);
  return `( ${judge(within)}${before}${name} ${words.map(quote).join(" ")} )`;
}

function judge(within: WorkspaceReach | undefined): string {
  if (within === undefined) return "";
  const any = (paths: readonly string[]) =>
    paths.length === 0 ? "false" : paths.map((path) => `t_inside ${quote(path)}`).join(" || ");
  const refuse = 't_end 15 "$r"';
  return `t_judge() { if ${any(within.deny)}; then ${refuse}; fi; if ${any(within.allow)}; then :; else ${refuse}; fi; }
`;
}

/** @throws {WorkspaceError} the path is not absolute */
export function needAbsolute(path: string): void {
  if (!path.startsWith("/")) {
    throw new WorkspaceError("failed", `Not an absolute path: ${path}`, { path });
  }
}

/** The answer of a successful operation; throws for any other. */
export function orFailure(answer: ShellAnswer, path: string): ShellAnswer {
  if (answer.status === 0 || answer.status === nothingThere) return answer;
  const text = answer.body.toString("utf8").trim();
  const code = statusCodes[answer.status] ?? "failed";
  if (answer.status === outside) {
    throw new WorkspaceError(code, undefined, { path: answer.body.toString("utf8") });
  }
  throw new WorkspaceError(code, systemTexts[code] ?? (text === "" ? undefined : text), { path });
}

/** The system's texts for these errors, with its codes, as in a local workspace. */
const systemTexts: Readonly<Partial<Record<WorkspaceErrorCode, string>>> = {
  not_found: "no such file or directory (ENOENT)",
  exists: "file already exists (EEXIST)",
  not_a_directory: "not a directory (ENOTDIR)",
  is_a_directory: "illegal operation on a directory (EISDIR)",
  not_empty: "directory not empty (ENOTEMPTY)",
  not_allowed: "permission denied (EACCES)",
  no_space: "no space left on device (ENOSPC)",
};

function statOf(body: Buffer): WorkspaceStat {
  const end = body.indexOf("\n");
  const [type = "", size, modified] = body.toString("latin1", 0, end).split(" ");
  const bits = Number.parseInt(type, 16);
  return {
    kind: formats[bits & 0xf000] ?? "other",
    size: Number(size),
    mode: bits & 0o7777,
    ...(modified === undefined ? {} : { modifiedAt: Number(modified) * 1000 }),
    realPath: body.toString("utf8", end + 1),
  };
}

const formats: Readonly<Record<number, WorkspaceFileKind>> = {
  [0x8000]: "file",
  [0x4000]: "directory",
  [0xa000]: "symlink",
};

/** A final slash would make the call follow a link. */
function withoutSlash(path: string): string {
  const short = path.replace(/\/+$/u, "");
  return short === "" && path !== "" ? "/" : short;
}

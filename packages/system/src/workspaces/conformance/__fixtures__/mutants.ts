import {
  type Workspace,
  WorkspaceError,
  type WorkspaceErrorCode,
  type WorkspaceProcess,
  type WorkspaceSpawnOptions,
} from "@tau-agent/rpc-protocol/workspace";

/** A correct workspace with one mistake. */
export interface Mutant {
  readonly name: string;
  /** The check that must fail. */
  readonly catches: string;
  readonly change: (good: Workspace) => Partial<Workspace>;
}

export function mutantOf(good: Workspace, change: Mutant["change"]): Workspace {
  const names = ["describe", "stat", "list", "read", "write", "remove", "rename", "createDirectory", "spawn"] as const;
  const methods = names.map((name) => [name, (good[name] as (...words: unknown[]) => unknown).bind(good)]);
  const search = good.search === undefined ? {} : { search: good.search.bind(good) };
  return { id: good.id, cwd: good.cwd, ...Object.fromEntries(methods), ...search, ...change(good) } as Workspace;
}

type Spawn = (options: WorkspaceSpawnOptions) => Promise<WorkspaceProcess>;

/** Changes how commands are started. */
const spawning =
  (change: (options: WorkspaceSpawnOptions) => WorkspaceSpawnOptions) =>
  (good: Workspace): Partial<Workspace> => ({ spawn: (options) => good.spawn(change(options)) });

/** Changes the process that is returned. */
const process =
  (change: (process: WorkspaceProcess, options: WorkspaceSpawnOptions, spawn: Spawn) => Partial<WorkspaceProcess>) =>
  (good: Workspace): Partial<Workspace> => ({
    spawn: async (options) => {
      const made = await good.spawn(options);
      return {
        pid: made.pid,
        write: (bytes) => made.write(bytes),
        endInput: () => made.endInput(),
        kill: (signal) => made.kill(signal),
        done: made.done,
        ...change(made, options, (other) => good.spawn(other)),
      };
    },
  });

/** Replaces one error code of a method by another. */
const code =
  (method: "list" | "read" | "write" | "remove" | "rename" | "createDirectory", from: WorkspaceErrorCode) =>
  (good: Workspace): Partial<Workspace> => ({
    [method]: async (...words: unknown[]) => {
      try {
        return await (good[method] as (...all: unknown[]) => Promise<unknown>).apply(good, words);
      } catch (error) {
        if ((error as WorkspaceError).code !== from) throw error;
        throw new WorkspaceError(from === "failed" ? "not_found" : "failed");
      }
    },
  });

const absolute = (good: Workspace, path: string) => (path.startsWith("/") ? path : `${good.cwd}/${path}`);
const sh = (good: Workspace, script: string, ...words: readonly string[]) =>
  good
    .spawn({ command: ["sh", "-c", script, "sh", ...words], onOutput: () => undefined })
    .then(({ done }) => done);

const relative: readonly Mutant[] = (["stat", "list", "read", "write", "createDirectory", "rename", "remove"] as const).map(
  (method) => ({
    name: `${method} accepts a relative path`,
    catches: `${method}() refuses a relative path: failed`,
    change: (good) => ({
      [method]: (...words: readonly unknown[]) =>
        (good[method] as (...words: unknown[]) => Promise<unknown>).call(
          good,
          ...words.map((word) => (typeof word === "string" ? absolute(good, word) : word)),
        ),
    }),
  }),
);

const deaf: readonly Mutant[] = (["stat", "list", "read", "write", "createDirectory", "rename", "remove"] as const).map(
  (method) => ({
    name: `${method} ignores its signal`,
    catches: `${method}() rejects with aborted when its signal is`,
    change: (good) => ({
      [method]: (...words: unknown[]) =>
        (good[method] as (...all: unknown[]) => Promise<unknown>).apply(
          good,
          words.map((word) => (typeof word === "object" && word !== null && "signal" in word ? {} : word)),
        ),
    }),
  }),
);

const boundless: readonly Mutant[] = (["stat", "list", "read", "write", "createDirectory", "rename", "remove"] as const).map(
  (method) => ({
    name: `${method} judges within on the path`,
    catches: `${method}() outside of within is not_allowed, also by way of a link`,
    change: (good) => ({
      [method]: (path: string, ...rest: readonly unknown[]) => {
        const within = rest.map((word) => (word as { within?: { allow: string[] } } | undefined)?.within).find(Boolean);
        if (within?.allow.some((place) => path.startsWith(`${place}/`)) === false) throw new WorkspaceError("not_allowed");
        const free = rest.map((word) => (typeof word === "object" && word !== null && "within" in word ? {} : word));
        return (good[method] as (...words: unknown[]) => Promise<unknown>).call(good, path, ...free);
      },
    }),
  }),
);

const statMutants: readonly Mutant[] = [
  { name: "unknown words in limited", catches: "describe() names platform, folders, shell and known limits", change: (good) => ({ describe: async () => ({ ...(await good.describe()), limited: ["everything"] }) }) },
  { name: "describe ignores its signal", catches: "describe() rejects with aborted when its signal is", change: (good) => ({ describe: () => good.describe() }) },
  { name: "sizes in blocks", catches: "stat() tells kind and size of a file", change: (good) => ({ stat: async (...words) => { const found = await good.stat(...words); return found && { ...found, size: Math.ceil(found.size / 512) }; } }) },
  { name: "folders are files", catches: "stat() tells a folder", change: (good) => ({ stat: async (...words) => { const found = await good.stat(...words); return found && { ...found, kind: found.kind === "directory" ? "other" : found.kind }; } }) },
  { name: "stat does not follow links", catches: "stat() follows a link", change: (good) => ({ stat: (path, options) => good.stat(path, { ...options, followLinks: false }) }) },
  { name: "stat always follows links", catches: "stat() without followLinks shows a link, also a dangling one", change: (good) => ({ stat: (path, options) => good.stat(path, { ...options, followLinks: true }) }) },
  { name: "stat of nothing throws", catches: "stat() of nothing is undefined", change: (good) => ({ stat: async (...words) => { const found = await good.stat(...words); if (!found) throw new WorkspaceError("not_found"); return found; } }) },
  { name: "stat below a file throws", catches: "stat() below a file is undefined", change: (good) => ({ stat: async (path, options) => { if (path.includes("/file/")) throw new WorkspaceError("not_a_directory"); return good.stat(path, options); } }) },
  { name: "stat shows a dangling link", catches: "stat() of a dangling link is undefined", change: (good) => ({ stat: async (path, options) => (await good.stat(path, options)) ?? good.stat(path, { ...options, followLinks: false }) }) },
  { name: "stat of a loop of links throws", catches: "stat() of links that lead to themselves is undefined", change: (good) => ({ stat: async (path, options) => { const found = await good.stat(path, options); if (!found && (await good.stat(path, { followLinks: false }))) throw new WorkspaceError("failed"); return found; } }) },
  { name: "mode with the kind", catches: "mode is the permission bits, without the kind", change: (good) => ({ stat: async (...words) => { const found = await good.stat(...words); return found && { ...found, mode: (found.mode ?? 0) | 0o100000 }; } }) },
  { name: "times in seconds", catches: "modifiedAt is in milliseconds, by the clock of the place", change: (good) => ({ stat: async (...words) => { const found = await good.stat(...words); return found && { ...found, modifiedAt: (found.modifiedAt ?? 0) / 1000 }; } }) },
  { name: "times cut to seconds", catches: "modifiedAt is more exact than a second", change: (good) => ({ stat: async (...words) => { const found = await good.stat(...words); return found && { ...found, modifiedAt: Math.floor((found.modifiedAt ?? 0) / 1000) * 1000 }; } }) },
  { name: "realPath is the path", catches: "realPath has no links", change: (good) => ({ stat: async (path, options) => { const found = await good.stat(path, options); return found && { ...found, realPath: path }; } }) },
  { name: "list without kinds", catches: "list() gives names and kinds", change: (good) => ({ list: async (...words) => (await good.list(...words)).map(({ name }) => ({ name, kind: "file" })) }) },
  { name: "list follows links", catches: "list() shows links as links", change: (good) => ({ list: async (...words) => (await good.list(...words)).map(({ name, kind }) => ({ name, kind: kind === "symlink" ? "file" : kind })) }) },
  { name: "list with dots", catches: "list() has hidden names, but neither . nor ..", change: (good) => ({ list: async (...words) => [{ name: ".", kind: "directory" }, { name: "..", kind: "directory" }, ...(await good.list(...words))] }) },
  { name: "list without hidden names", catches: "list() has hidden names, but neither . nor ..", change: (good) => ({ list: async (...words) => (await good.list(...words)).filter(({ name }) => !name.startsWith(".")) }) },
  { name: "list by lines", catches: "any name can be written, listed and read", change: (good) => ({ list: async (...words) => (await good.list(...words)).flatMap(({ name, kind }) => name.split("\n").map((part) => ({ name: part, kind }))) }) },
  { name: "list without names that are not UTF-8", catches: "a name that is not UTF-8 is listed with U+FFFD, and opens nothing", change: (good) => ({ list: async (...words) => (await good.list(...words)).map(({ name, kind }) => ({ name: name.replaceAll("\u{fffd}", "?"), kind })) }) },
  { name: "list of the first 500", catches: "list() of an empty folder is empty, of many names complete", change: (good) => ({ list: async (...words) => (await good.list(...words)).slice(0, 500) }) },
  { name: "list refuses links", catches: "list() follows a link to a folder", change: (good) => ({ list: async (path, options) => { if ((await good.stat(path, { followLinks: false }))?.kind === "symlink") throw new WorkspaceError("not_a_directory"); return good.list(path, options); } }) },
  { name: "list of a file is failed", catches: "list() of a file is not_a_directory, of nothing not_found", change: code("list", "not_a_directory") },
  { name: "list of nothing is empty", catches: "list() of a file is not_a_directory, of nothing not_found", change: (good) => ({ list: async (path, options) => ((await good.stat(path)) ? good.list(path, options) : []) }) },
];

const fileMutants: readonly Mutant[] = [
  { name: "bytes as text", catches: "bytes are read as they were written", change: (good) => ({ read: async (...words) => Buffer.from(Buffer.from(await good.read(...words)).toString()) }) },
  { name: "read gives a megabyte at most", catches: "five megabytes are written and read", change: (good) => ({ read: async (...words) => (await good.read(...words)).subarray(0, 1_048_576) }) },
  { name: "offset ignored", catches: "read() takes an offset and a length", change: (good) => ({ read: (path, { offset: _, ...options } = {}) => good.read(path, options) }) },
  { name: "length ignored", catches: "read() takes an offset and a length", change: (good) => ({ read: (path, { length: _, ...options } = {}) => good.read(path, options) }) },
  { name: "read past the end throws", catches: "read() past the end is empty, across it short", change: (good) => ({ read: async (path, options = {}) => { if ((options.offset ?? 0) >= ((await good.stat(path))?.size ?? 0)) throw new WorkspaceError("failed"); return good.read(path, options); } }) },
  { name: "read across the end is filled up", catches: "read() past the end is empty, across it short", change: (good) => ({ read: async (path, options = {}) => { const bytes = await good.read(path, options); return bytes.length === 0 ? bytes : Buffer.concat([bytes, Buffer.alloc((options.length ?? bytes.length) - bytes.length)]); } }) },
  { name: "read of a folder is failed", catches: "read() of a folder is is_a_directory", change: code("read", "is_a_directory") },
  { name: "read of nothing is failed", catches: "read() of nothing is not_found", change: code("read", "not_found") },
  { name: "read of a pipe is not_found", catches: "read() of what is neither file nor folder is failed", change: code("read", "failed") },
  { name: "read refuses links", catches: "read() follows a link", change: (good) => ({ read: async (path, options) => { if ((await good.stat(path, { followLinks: false }))?.kind === "symlink") throw new WorkspaceError("failed"); return good.read(path, options); } }) },
  { name: "write keeps the rest", catches: "write() replaces the whole file", change: (good) => ({ write: async (path, bytes, options) => { const old = await good.read(path).catch(() => new Uint8Array()); await good.write(path, Buffer.concat([bytes, old.subarray(bytes.length)]), options); } }) },
  { name: "write in place", catches: "write() replaces in one step", change: (good) => ({ write: async (path, bytes, options) => { if (await good.stat(path)) await sh(good, 'printf %s "$2" >"$1"', path, Buffer.from(bytes).toString()); else await good.write(path, bytes, options); } }) },
  { name: "write leaves a copy", catches: "write() leaves nothing beside the file", change: (good) => ({ write: async (path, bytes, options) => { await good.write(`${path}.bak`, bytes); await good.write(path, bytes, options); } }) },
  { name: "write loses the mode", catches: "write() keeps the mode of what it replaces", change: (good) => ({ write: async (path, bytes, options) => { await good.remove(path).catch(() => undefined); await good.write(path, bytes, options); } }) },
  { name: "new files are private", catches: "a new file has mode 0666 less the umask", change: (good) => ({ write: (path, bytes, options) => good.write(path, bytes, { ...options, mode: options?.mode ?? 0o600 }) }) },
  { name: "write ignores the mode", catches: "write() gives a new file the mode it is told, less the umask", change: (good) => ({ write: (path, bytes) => good.write(path, bytes) }) },
  { name: "write replaces a link", catches: "write() follows a link at the end of the path", change: (good) => ({ write: async (path, bytes, options) => { if ((await good.stat(path, { followLinks: false }))?.kind === "symlink") await good.remove(path); await good.write(path, bytes, options); } }) },
  { name: "write makes no folders", catches: "write() makes the folders on the way", change: (good) => ({ write: async (path, bytes, options) => { if (!(await good.stat(path.slice(0, path.lastIndexOf("/"))))) throw new WorkspaceError("not_found"); await good.write(path, bytes, options); } }) },
  { name: "write to a folder is failed", catches: "write() to a folder is is_a_directory, below a file not_a_directory", change: code("write", "is_a_directory") },
  { name: "write below a file is failed", catches: "write() to a folder is is_a_directory, below a file not_a_directory", change: code("write", "not_a_directory") },
  { name: "writes share a buffer", catches: "write() at once to many files keeps them apart", change: (good) => { let last = new Uint8Array(); return { write: async (path, bytes, options) => { last = Uint8Array.from(bytes); await new Promise((resolve) => setTimeout(resolve, 5)); await good.write(path, last, options); } }; } },
];

const placeMutants: readonly Mutant[] = [
  { name: "remove refuses folders", catches: "remove() removes a file and an empty folder", change: (good) => ({ remove: async (path, options) => { if ((await good.stat(path))?.kind === "directory") throw new WorkspaceError("failed"); await good.remove(path, options); } }) },
  { name: "remove of nothing is fine", catches: "remove() of nothing is not_found", change: (good) => ({ remove: async (path, options) => { if (await good.stat(path, { followLinks: false })) await good.remove(path, options); } }) },
  { name: "remove of a full folder is failed", catches: "remove() of a folder that is not empty is not_empty", change: code("remove", "not_empty") },
  { name: "remove is always recursive", catches: "remove() of a folder that is not empty is not_empty", change: (good) => ({ remove: (path, options) => good.remove(path, { ...options, recursive: true }) }) },
  { name: "remove leaves hidden files", catches: "remove() with recursive takes all that is in a folder", change: (good) => ({ remove: async (path, options) => { if (options?.recursive) await sh(good, 'rm -rf "$1"/[!.]*; rmdir "$1"', path); else await good.remove(path, options); } }) },
  { name: "remove follows links", catches: "remove() removes links and does not follow them", change: (good) => ({ remove: async (path, options) => { const real = (await good.stat(path))?.realPath; if (real !== undefined && real !== path) await good.remove(real, options); await good.remove(path, options); } }) },
  { name: "remove follows links inside", catches: "remove() with recursive does not follow links inside", change: (good) => ({ remove: async (path, options) => { await sh(good, 'for l in "$1"/*; do [ -L "$l" ] && rm -rf "$l"/*; done', path); await good.remove(path, options); } }) },
  { name: "rename copies", catches: "rename() moves a file and a folder", change: (good) => ({ rename: async (from, to, options) => { if ((await good.stat(from))?.kind === "directory") await good.rename(from, to, options); else await good.write(to, await good.read(from)); } }) },
  { name: "rename refuses to replace", catches: "rename() replaces a file", change: (good) => ({ rename: async (from, to, options) => { if (await good.stat(to)) throw new WorkspaceError("exists"); await good.rename(from, to, options); } }) },
  { name: "rename replaces a folder", catches: "rename() never replaces a folder: exists", change: (good) => ({ rename: async (from, to, options) => { if ((await good.stat(to))?.kind === "directory") await good.remove(to, { recursive: true }); await good.rename(from, to, options); } }) },
  { name: "rename of nothing is failed", catches: "rename() of nothing is not_found", change: code("rename", "not_found") },
  { name: "rename follows a link", catches: "rename() moves a link, not what it leads to", change: (good) => ({ rename: async (from, to, options) => good.rename((await good.stat(from))?.realPath ?? from, to, options) }) },
  { name: "createDirectory refuses a folder", catches: "createDirectory() makes parents, and is content with a folder", change: (good) => ({ createDirectory: async (path, options) => { if (path.includes("/one") && (await good.stat(path))) throw new WorkspaceError("exists"); await good.createDirectory(path, options); } }) },
  { name: "createDirectory over a file is fine", catches: "createDirectory() over a file is exists", change: (good) => ({ createDirectory: async (path, options) => { if (!(await good.stat(path))) await good.createDirectory(path, options); } }) },
  { name: "createDirectory below a file is failed", catches: "createDirectory() below a file is not_a_directory", change: code("createDirectory", "not_a_directory") },
];

const callMutants: readonly Mutant[] = [
  { name: "paths end at a NUL byte", catches: "a path with a NUL byte is failed", change: (good) => ({ read: (path, options) => good.read(path.split("\0")[0] ?? "", options) }) },
  { name: "cwd may be relative", catches: "spawn() refuses a relative cwd", change: spawning(({ cwd, ...options }) => (cwd?.startsWith("/") ? { ...options, cwd } : options)) },
  { name: "nothing is inside", catches: "inside of within all is allowed", change: (good) => ({ list: async (path, options) => { if (options?.within) throw new WorkspaceError("not_allowed"); return good.list(path, options); } }) },
  { name: "not_allowed names the path as given", catches: "within judges what was really opened, and not_allowed names it", change: (good) => ({ read: async (path, options) => { try { return await good.read(path, options); } catch { throw new WorkspaceError("not_allowed", "no", { path }); } } }) },
  { name: "write does not judge links", catches: "write() through a link that leads outside is not_allowed", change: (good) => ({ write: (path, bytes, { within: _, ...options } = {}) => good.write(path, bytes, options) }) },
  { name: "deny is ignored", catches: "deny wins over allow, for a file and for a folder", change: (good) => ({ read: (path, options) => good.read(path, options?.within ? { ...options, within: { ...options.within, deny: [] } } : options) }) },
  { name: "within compares beginnings", catches: "a folder whose name only begins alike is not inside", change: (good) => ({ read: (path, { within, ...options } = {}) => { if (within?.allow.some((place) => path.startsWith(place)) === false) throw new WorkspaceError("not_allowed"); return good.read(path, options); } }) },
  { name: "within does not know ..", catches: "within is judged behind ..", change: (good) => ({ read: (path, { within, ...options } = {}) => { if (within?.allow.some((place) => path.startsWith(`${place}/`)) === false) throw new WorkspaceError("not_allowed"); return good.read(path, options); } }) },
  { name: "rename judges the first end only", catches: "rename() judges both ends", change: (good) => ({ rename: async (from, to, { within, ...options } = {}) => { await good.stat(from, { within }); await good.rename(from, to, options); } }) },
];

const commandMutants: readonly Mutant[] = [
  { name: "lines are split at blanks", catches: "a string is a line for the shell", change: spawning((options) => ({ ...options, command: typeof options.command === "string" ? ["echo", ...options.command.split(" ")] : options.command })) },
  { name: "arguments are joined for a shell", catches: "an array is a program with its arguments, which no shell reads", change: spawning((options) => ({ ...options, command: typeof options.command === "string" ? options.command : options.command.join(" ") })) },
  { name: "cwd is ignored", catches: "a command starts in the workspace's folder, or in cwd", change: spawning(({ cwd: _, ...options }) => options) },
  { name: "environment is ignored", catches: "environment adds variables, and leaves the others", change: spawning(({ environment: _, ...options }) => options) },
  { name: "null in environment is empty", catches: "null in environment removes a variable", change: spawning((options) => ({ ...options, environment: Object.fromEntries(Object.entries(options.environment ?? {}).map(([name, value]) => [name, value ?? ""])) })) },
  { name: "stdin is open by default", catches: "stdin is at its end from the start unless it is open", change: spawning((options) => ({ ...options, stdin: "open" })) },
  { name: "input is lost", catches: "an open stdin takes bytes, and ends with endInput()", change: process(() => ({ write: async () => undefined })) },
  { name: "endInput does nothing", catches: "an open stdin takes bytes, and ends with endInput()", change: process(() => ({ endInput: async () => undefined })) },
  { name: "the streams are mixed", catches: "stdout and stderr are apart", change: spawning((options) => ({ ...options, onOutput: (bytes) => options.onOutput(bytes, "stdout") })) },
  { name: "output is text", catches: "output comes byte for byte", change: spawning((options) => ({ ...options, onOutput: (bytes, stream) => options.onOutput(Buffer.from(Buffer.from(bytes).toString()), stream) })) },
  { name: "done before the output is drained", catches: "done comes when all output is read", change: (good) => ({ spawn: (options) => { let count = 0; return good.spawn({ ...options, onOutput: (bytes, stream) => { count += 1; return count > 3 ? undefined : options.onOutput(bytes, stream); } }); } }) },
  { name: "output comes at the end", catches: "output comes while the command runs", change: (good) => ({ spawn: async (options) => { const kept: [Uint8Array, "stdout" | "stderr"][] = []; const made = await good.spawn({ ...options, onOutput: (bytes, stream) => { kept.push([bytes, stream]); } }); const done = made.done.then(async (exit) => { for (const [bytes, stream] of kept) await options.onOutput(bytes, stream); return exit; }); return Object.assign(Object.create(made), { done, kill: made.kill.bind(made) }); } }) },
  { name: "nothing holds output back", catches: "what onOutput waits for holds the rest back", change: spawning((options) => ({ ...options, onOutput: (bytes, stream) => { for (let at = 0; at < bytes.length; at += 1000) void options.onOutput(bytes.subarray(at, at + 1000), stream); } })) },
  { name: "done waits for a held pipe", catches: "done is not held up by what holds the output", change: process(({ done }, { command }) => ({ done: done.then(async (exit) => { if (String(command).includes("&")) await new Promise((resolve) => setTimeout(resolve, 6_000)); return exit; }) })) },
  { name: "any failure is 1", catches: "the exit code is the command's", change: process(({ done }) => ({ done: done.then((exit) => ({ ...exit, exitCode: exit.exitCode === null ? null : Math.min(1, exit.exitCode) })) })) },
  { name: "a signal is an exit code", catches: "a signal that ended the command is told", change: process(({ done }) => ({ done: done.then((exit) => (exit.signal === undefined ? exit : { exitCode: 137 })) })) },
  { name: "a missing program is failed", catches: "a program that is not there is not_found", change: (good) => ({
      spawn: async (options) => {
        const failed = () => {
          throw new WorkspaceError("failed");
        };
        const made = await good.spawn(options).catch(failed);
        return Object.assign(Object.create(made), { done: made.done.catch(failed) });
      },
    }) },
  { name: "a missing folder is the usual one", catches: "a folder that is not there is not_found, and nothing runs", change: (good) => ({ spawn: async ({ cwd, ...options }) => good.spawn(cwd !== undefined && (await good.stat(cwd)) ? { ...options, cwd } : options) }) },
  { name: "pid is another", catches: "pid is the command's in its place", change: process(({ pid }) => ({ pid: (pid ?? 0) + 1 })) },
  { name: "commands run one after the other", catches: "commands run side by side", change: (good) => { let last: Promise<unknown> = Promise.resolve(); return { spawn: async (options) => { const before = last; const { promise, resolve } = Promise.withResolvers<void>(); last = promise; await before; const made = await good.spawn(options); made.done.then(() => resolve(), () => resolve()); return made; } }; } },
];

const endingMutants: readonly Mutant[] = [
  { name: "kill ends the shell only", catches: "kill() ends the command and all that it started", change: (good) => process((made) => ({ kill: async () => { await sh(good, 'kill -KILL "$1"', String(made.pid)); } }))(good) },
  { name: "the signal ends the shell only", catches: "the signal of spawn() ends the command and all that it started", change: (good) => ({ spawn: async ({ signal, ...options }) => { const made = await good.spawn(options); signal?.addEventListener("abort", () => void sh(good, 'kill -KILL "$1"', String(made.pid))); return made; } }) },
  { name: "the time limit ends the shell only", catches: "the time limit ends the command and all that it started", change: (good) => ({ spawn: async ({ timeoutMs, ...options }) => { const made = await good.spawn(options); if (timeoutMs !== undefined) setTimeout(() => void sh(good, 'kill -KILL "$1"', String(made.pid)), timeoutMs); return made; } }) },
  { name: "kill does nothing", catches: "kill(), the signal and the time limit end a command soon", change: process(() => ({ kill: async () => undefined })) },
  { name: "the signal of spawn is ignored", catches: "kill(), the signal and the time limit end a command soon", change: spawning(({ signal: _, ...options }) => options) },
  { name: "the time limit is ignored", catches: "kill(), the signal and the time limit end a command soon", change: spawning(({ timeoutMs: _, ...options }) => options) },
  { name: "kill always sends KILL", catches: "kill() sends SIGTERM, or the signal that it is told", change: process((made) => ({ kill: () => made.kill("SIGKILL") })) },
  { name: "kill always sends TERM", catches: "kill() sends SIGTERM, or the signal that it is told", change: process((made) => ({ kill: () => made.kill() })) },
  { name: "the signal of spawn is KILL", catches: "the signal of spawn() is TERM first", change: (good) => ({ spawn: async ({ signal, ...options }) => { const made = await good.spawn(options); signal?.addEventListener("abort", () => void made.kill("SIGKILL")); return made; } }) },
  { name: "there is no KILL after TERM", catches: "what ignores TERM is killed two seconds later", change: (good) => ({ spawn: async ({ signal, ...options }) => { const made = await good.spawn(options); signal?.addEventListener("abort", () => void made.kill()); return made; } }) },
  { name: "timedOut is never said", catches: "timedOut says that the limit ended the command", change: process(({ done }) => ({ done: done.then(({ timedOut: _, ...exit }) => exit) })) },
  { name: "timedOut whenever there is a limit", catches: "a command that ends before its limit keeps its exit code", change: process(({ done }, { timeoutMs }) => ({ done: done.then((exit) => (timeoutMs === undefined ? exit : { ...exit, timedOut: true })) })) },
  { name: "an aborted signal starts all the same", catches: "spawn() whose signal is aborted already starts nothing: aborted", change: spawning((options) => (options.signal?.aborted ? { ...options, signal: undefined } : options)) },
  { name: "kill after the end throws", catches: "kill() after the end is harmless", change: process(({ done }) => { let isOver = false; done.then(() => { isOver = true; }, () => undefined); return { kill: async () => { if (isOver) throw new WorkspaceError("failed"); } }; }) },
];

const searchMutants: readonly Mutant[] = [
  { name: "search counts lines from 0", catches: "search() for text gives path, line and text", change: (good) => ({ search: async (request) => { const found = await good.search?.(request); return { truncated: found?.truncated ?? false, matches: (found?.matches ?? []).map((match) => ({ ...match, line: (match.line ?? 1) - 1 })) }; } }) },
  { name: "search ignores literal", catches: "search() for text gives path, line and text", change: (good) => ({ search: async ({ literal: _, ...request }) => (await good.search?.(request)) ?? { matches: [], truncated: false } }) },
  { name: "search ignores its limit", catches: "search() keeps to its limit, and says so", change: (good) => ({ search: async (request) => (await good.search?.({ ...request, limit: 1000 })) ?? { matches: [], truncated: false } }) },
  { name: "search for names finds none", catches: "search() for names takes a glob", change: () => ({ search: async () => ({ matches: [], truncated: false }) }) },
  { name: "search ignores within", catches: "search() outside of within is not_allowed", change: (good) => ({ search: async ({ within: _, ...request }) => (await good.search?.(request)) ?? { matches: [], truncated: false } }) },
];

/** One mistake for each rule of the interface. */
export const mutants: readonly Mutant[] = [
  ...statMutants,
  ...fileMutants,
  ...placeMutants,
  ...relative,
  ...deaf,
  ...boundless,
  ...callMutants,
  ...commandMutants,
  ...endingMutants,
  ...searchMutants,
];

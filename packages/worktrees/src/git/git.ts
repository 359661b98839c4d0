import { open } from "node:fs/promises";
import { delimiter } from "node:path";
import { ToolError } from "@tau-agent/agent";
import { ProcessError, runProcess, type ToolEnvironment } from "@tau-agent/system";

/** A repository given by its folders, so that git does not look for one. */
export interface GitLocation {
  readonly gitDir: string;
  readonly workTree: string;
  /** Where objects are read and written instead of `gitDir`. */
  readonly objects?: string | undefined;
  /** Additional folders from which objects are read. */
  readonly alternates?: readonly string[] | undefined;
  /** Whether git may fetch missing objects, with the programs that do so. */
  readonly mayFetch?: boolean | undefined;
}

export interface GitRequest {
  readonly cwd: string;
  readonly indexFile?: string | undefined;
  /** If absent, git looks for a repository around `cwd` and reads its configuration. */
  readonly location?: GitLocation | undefined;
  /** Whether the command writes the caller's files, and so replaces pointers by the content of large files. */
  readonly takesLargeFiles?: boolean | undefined;
  /**
   * Runs the command in the session's sandbox, if there is one, because other commands can change the
   * files that it reads or writes meanwhile. It may also write to these folders there.
   */
  readonly inSandbox?: { readonly writable: readonly string[] } | undefined;
  /** A file to use as input. */
  readonly inputFile?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface GitOutput {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

const TIMEOUT_MS = 10 * 60_000;
const MEBIBYTE = 1024 * 1024;
const MAX_OUTPUT_BYTES = 256 * MEBIBYTE;

// No hooks, signing, prompts or background maintenance of the user may run.
const configuration = [
  "core.hooksPath=/dev/null",
  "safe.bareRepository=explicit",
  "protocol.ext.allow=never",
  "core.fsmonitor=false",
  "core.untrackedCache=false",
  "core.quotePath=false",
  "core.safecrlf=false",
  "core.longpaths=true",
  "core.splitIndex=false",
  "commit.gpgSign=false",
  "gc.auto=0",
  "maintenance.auto=false",
  "submodule.recurse=false",
  "diff.noprefix=false",
  "diff.mnemonicPrefix=false",
  "diff.suppressBlankEmpty=false",
  "apply.whitespace=nowarn",
  "apply.ignoreWhitespace=no",
  "rerere.enabled=false",
  "advice.addEmbeddedRepo=false",
].flatMap((setting) => ["-c", setting]);

/** Git's own variables that say where the user's configuration is and how far git may search. */
const usersVariables = new Set([
  "GIT_CONFIG_GLOBAL",
  "GIT_CONFIG_SYSTEM",
  "GIT_CONFIG_NOSYSTEM",
  "GIT_CEILING_DIRECTORIES",
]);

/** Runs git without prompts, hooks, translations, provider keys or the host's own `GIT_*` variables. */
export class Git {
  readonly environment: ToolEnvironment;
  readonly #maxOutputBytes: number;

  /** @param maxOutputBytes the most bytes of a command's output that are held in memory */
  constructor(environment: ToolEnvironment, maxOutputBytes = MAX_OUTPUT_BYTES) {
    this.environment = environment;
    this.#maxOutputBytes = maxOutputBytes;
  }

  /**
   * Runs a command that must succeed and returns its output.
   *
   * @throws {ToolError} with git's own words
   */
  async run(args: readonly string[], request: GitRequest): Promise<string> {
    const { exitCode, stdout, stderr } = await this.try(args, request);
    if (exitCode === 0) return stdout;
    throw failed(args, request, stderr.trim() || `exit code ${exitCode}`);
  }

  /**
   * Runs a command that must succeed and prints a NUL-terminated list. Each character is one byte,
   * because file names need not be valid text.
   *
   * @throws {ToolError} with git's own words
   */
  async names(args: readonly string[], request: GitRequest): Promise<string[]> {
    const { exitCode, output } = await this.#exec(args, request);
    if (exitCode !== 0) throw failed(args, request, output.stderr);
    return output.bytes("stdout").toString("latin1").split("\0").slice(0, -1);
  }

  /**
   * Runs a command that must succeed and passes on its output in pieces, whatever its size.
   *
   * @throws {ToolError} with git's own words
   */
  async feed(
    args: readonly string[],
    request: GitRequest,
    take: (chunk: Buffer) => void,
  ): Promise<void> {
    const { exitCode, output } = await this.#exec(args, request, take);
    if (exitCode !== 0) throw failed(args, request, output.stderr);
  }

  /**
   * Runs a command that may fail.
   *
   * @throws {ToolError} when git cannot be started, takes too long, was stopped, or returns too much
   */
  async try(args: readonly string[], request: GitRequest): Promise<GitOutput> {
    const { exitCode, output } = await this.#exec(args, request);
    const stdout = output.bytes("stdout").toString("utf8");
    return { exitCode, stdout, stderr: output.stderr };
  }

  async #exec(
    args: readonly string[],
    request: GitRequest,
    take?: (chunk: Buffer) => void,
  ): Promise<{ exitCode: number; output: Output }> {
    const output = createOutput(this.#maxOutputBytes);
    const { file, args: words, env: variables } = this.command(args, request);
    const input = request.inputFile === undefined ? undefined : await open(request.inputFile);
    const { sandbox, processes } = this.environment;
    const isInside = request.inSandbox !== undefined && sandbox?.isAvailable === true;
    const outcome = await runProcess({
      ...(isInside && { sandbox, alsoWritable: request.inSandbox?.writable }),
      file,
      args: words,
      cwd: request.cwd,
      variables,
      processes,
      inputFile: input?.fd,
      signal: request.signal,
      timeoutMs: TIMEOUT_MS,
      onOutput: (chunk, stream) => {
        if (stream === "stdout" && take !== undefined) take(chunk);
        else output.add(chunk, stream);
        return undefined;
      },
    })
      .catch(refuse)
      .finally(() => input?.close());
    if (outcome.kind === "exited") {
      if (output.isCut) throw tooMuch(args, request, this.#maxOutputBytes);
      return { exitCode: outcome.exitCode, output };
    }
    const what = { timed_out: "took too long", aborted: "was stopped", signalled: "was killed" };
    throw new ToolError(`git ${nameOf(args)} ${what[outcome.kind]}`);
  }

  /** The program, arguments and environment of a command, for callers that start it themselves. */
  command(
    args: readonly string[],
    request: GitRequest,
  ): { file: string; args: string[]; env: Record<string, string> } {
    return { file: "git", args: [...configuration, ...args], env: this.#variables(request) };
  }

  #variables({ indexFile, location, takesLargeFiles }: GitRequest): Record<string, string> {
    const variables: Record<string, string> = {};
    const { environment, keyVariables = [], namedVariables = [] } = this.environment;
    const keys = new Set([...keyVariables, ...namedVariables]);
    const skip = takesLargeFiles === true ? environment.GIT_LFS_SKIP_SMUDGE : "1";
    for (const [name, value] of Object.entries(environment)) {
      const isOurs = name.startsWith("GIT_") && !usersVariables.has(name);
      if (value !== undefined && !isOurs && !keys.has(name)) variables[name] = value;
    }
    return {
      ...variables,
      LC_ALL: "C",
      GIT_TERMINAL_PROMPT: "0",
      GIT_ASKPASS: "true",
      GCM_INTERACTIVE: "never",
      GIT_OPTIONAL_LOCKS: "0",
      ...(skip !== undefined && { GIT_LFS_SKIP_SMUDGE: skip }),
      GIT_AUTHOR_NAME: "Tau",
      GIT_AUTHOR_EMAIL: "tau@localhost",
      GIT_COMMITTER_NAME: "Tau",
      GIT_COMMITTER_EMAIL: "tau@localhost",
      ...(indexFile !== undefined && { GIT_INDEX_FILE: indexFile }),
      ...(location !== undefined && {
        GIT_DIR: location.gitDir,
        GIT_WORK_TREE: location.workTree,
        ...(location.objects !== undefined && { GIT_OBJECT_DIRECTORY: location.objects }),
        ...(location.alternates !== undefined && {
          GIT_ALTERNATE_OBJECT_DIRECTORIES: location.alternates.map(quotedPath).join(delimiter),
        }),
      }),
      // Missing objects are fetched by a program that the configuration names.
      ...(location?.mayFetch !== true && { GIT_ALLOW_PROTOCOL: "none" }),
    };
  }
}

/** Quotes a path for a list in which quotation marks or the separator have a meaning. */
function quotedPath(path: string): string {
  if (!path.startsWith('"') && !path.includes(delimiter)) return path;
  return `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

/** The name of the subcommand, after git's own options. */
function nameOf(args: readonly string[]): string {
  return args.find((word) => /^[a-z][a-z-]*$/.test(word)) ?? "";
}

function failed(args: readonly string[], { cwd }: GitRequest, reason: string): ToolError {
  return new ToolError(`git ${nameOf(args)} failed in ${cwd}: ${reason.trim()}`);
}

/** Truncated lists must fail, because callers could not tell that they are incomplete. */
function tooMuch(args: readonly string[], { cwd }: GitRequest, maxBytes: number): ToolError {
  const size = maxBytes < MEBIBYTE ? `${maxBytes} bytes` : `${maxBytes / MEBIBYTE} MiB`;
  return new ToolError(
    `git ${nameOf(args)} gave more than ${size} in ${cwd}. Have git ignore what it should not list, such as generated files.`,
  );
}

function createOutput(maxBytes: number) {
  const chunks = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  const sizes = { stdout: 0, stderr: 0 };

  const bytes = (stream: "stdout" | "stderr"): Buffer => Buffer.concat(chunks[stream]);

  return {
    bytes,
    add(chunk: Buffer, stream: "stdout" | "stderr"): void {
      const room = maxBytes - sizes[stream];
      sizes[stream] += chunk.length;
      if (room > 0) chunks[stream].push(chunk.subarray(0, room));
    },
    /** Whether output was dropped; for stderr the beginning is enough. */
    get isCut(): boolean {
      return sizes.stdout > maxBytes;
    },
    get stderr(): string {
      return bytes("stderr").toString("utf8");
    },
  };
}

type Output = ReturnType<typeof createOutput>;

function refuse(error: unknown): never {
  if (error instanceof ProcessError) {
    const text =
      error.code === "not_found"
        ? "Isolated tasks and rewind need git, and there is no git on the PATH."
        : error.message;
    throw new ToolError(text, undefined, { cause: error });
  }
  throw error;
}

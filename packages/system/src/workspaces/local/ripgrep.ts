import { basename, dirname } from "node:path";
import { WorkspaceError } from "@tau-agent/rpc-protocol/workspace";
import { withoutPrefix } from "../../base/files/glob-filter.ts";
import { type ProcessOutcome, runProcess } from "../../processes/process.ts";
import { ProcessError } from "../../processes/process-error.ts";
import type { ProcessRegistry } from "../../processes/process-registry.ts";
import type { Sandbox } from "../../processes/sandbox.ts";
import { type LineSearch, patternProblem } from "../common/search-request.ts";

// A match in a longer line (64 MiB as JSON) does not justify the memory.
const maxRecordBytes = 64 * 1024 * 1024;
const maxErrorBytes = 4096;

/** What a search needs from its workspace. */
interface SearchEnvironment {
  readonly processes: ProcessRegistry;
  readonly sandbox?: Sandbox | undefined;
}

/**
 * Searches with ripgrep, which searches several files at the same time; false if it could not be started.
 *
 * @throws {WorkspaceError} ripgrep does not accept the pattern, or ended before it had searched everything
 */
export async function searchWithRipgrep(
  executable: string,
  search: LineSearch,
  { processes, sandbox }: SearchEnvironment,
): Promise<boolean> {
  const { root, signal } = search;
  const enough = new AbortController();
  let errors = "";
  let isComplete = false;
  const records = createRecordReader((record) => {
    if (record.type === "summary") isComplete = true;
    if (!enough.signal.aborted && !reportLines(record, search)) enough.abort();
  });
  const outcome = await runProcess({
    file: executable,
    args: ripgrepArguments(search),
    // Globs and ignore rules are relative to this folder.
    cwd: root.isDirectory ? root.path : dirname(root.path),
    variables: {},
    processes,
    // In the sandbox, files that may not be read are not found.
    sandbox,
    isAlone: true,
    signal: signal === undefined ? enough.signal : AbortSignal.any([signal, enough.signal]),
    onOutput: (chunk, stream) => {
      if (stream === "stdout") records.push(chunk);
      else if (errors.length < maxErrorBytes) errors += chunk.toString();
      return undefined;
    },
  }).catch((error: unknown) => {
    // Without ripgrep, or without a sandbox for it, this process searches, and reads only allowed files.
    if (error instanceof ProcessError) return undefined;
    throw error;
  });
  signal?.throwIfAborted();
  if (outcome?.kind === "exited" && outcome.exitCode === 2 && errors !== "") {
    throw patternError(search.pattern, errors);
  }
  // The exit code does not help: "no match" and a failing wrapper have the same one.
  if (outcome !== undefined && !isComplete && !enough.signal.aborted) {
    throw incompleteError(search.pattern, outcome, errors);
  }
  return outcome !== undefined;
}

function ripgrepArguments(search: LineSearch): string[] {
  const { pattern, root, glob } = search;
  const args = ["--no-config", "--json", "--hidden", "--no-require-git", "--no-messages"];
  args.push("--engine", "auto", "--glob", "!.git");
  if (search.ignoresCase) args.push("--ignore-case");
  if (search.isLiteral) args.push("--fixed-strings");
  if (search.context > 0) args.push("--context", String(search.context));
  if (/\n|\\n/.test(pattern)) args.push("--multiline");
  if (glob !== undefined && root.isDirectory) args.push(...globArguments(glob));
  const target = root.isDirectory ? "./" : `./${basename(root.path)}`;
  return [...args, "--regexp", pattern, "--", target];
}

/**
 * Passes a positive glob as a file type, because ripgrep's `--glob` would include ignored files.
 * Types match only names, so results are filtered again by path.
 */
function globArguments(glob: string): string[] {
  if (glob.startsWith("!")) return ["--glob", `!${withoutPrefix(glob.slice(1))}`];
  const name = glob.slice(glob.lastIndexOf("/") + 1);
  const isWhole = !/[{}[\]]/.test(name) || !glob.includes("/");
  if (name === "" || name === "**" || !isWhole) return [];
  return ["--type-add", `wanted:${name}`, "--type", "wanted"];
}

function patternError(pattern: string, errors: string): WorkspaceError {
  const reason = errors.replace(/^(?:rg: )?/, "").trim();
  return new WorkspaceError("failed", patternProblem(pattern, reason));
}

function incompleteError(pattern: string, outcome: ProcessOutcome, errors: string): WorkspaceError {
  const end =
    outcome.kind === "exited"
      ? `with exit code ${outcome.exitCode}`
      : outcome.kind === "signalled"
        ? `by ${outcome.signal}`
        : "early";
  const reason = errors.trim() === "" ? "" : `: ${errors.trim()}`;
  const text = `Cannot search for ${JSON.stringify(pattern)}: ripgrep ended ${end} before it had searched everything${reason}\nTry again, or search in fewer files.`;
  return new WorkspaceError("failed", text);
}

interface RipgrepText {
  readonly text?: string;
  /** Base64 of text that is not UTF-8. */
  readonly bytes?: string;
}

interface RipgrepRecord {
  /** The last record is a "summary", even if nothing was found. */
  readonly type: string;
  readonly data: {
    readonly path?: RipgrepText;
    readonly lines?: RipgrepText;
    readonly line_number?: number;
  };
}

function reportLines({ type, data }: RipgrepRecord, search: LineSearch): boolean {
  if (type !== "match" && type !== "context") return true;
  const path = plainText(data.path).replaceAll("\\", "/").replace(/^\.\//, "");
  if (search.root.isDirectory && search.filter?.matches(path) === false) return true;
  const lines = plainText(data.lines).replace(/\n$/, "").split("\n");
  const first = data.line_number ?? 1;
  // Only a multi-line match has more than one line.
  return lines.every((text, index) =>
    search.onLine({
      ...{ path, number: first + index, text },
      isMatch: type === "match" && index === 0,
      isRest: index > 0,
    }),
  );
}

function plainText(value: RipgrepText | undefined): string {
  if (value?.text !== undefined) return value.text;
  return value?.bytes === undefined ? "" : Buffer.from(value.bytes, "base64").toString();
}

/** Splits ripgrep's output into JSON records. */
function createRecordReader(onRecord: (record: RipgrepRecord) => void) {
  let parts: Buffer[] = [];
  let length = 0;

  function add(part: Buffer): void {
    length += part.length;
    if (length <= maxRecordBytes) parts.push(part);
    else parts = [];
  }

  function finish(): void {
    const line = Buffer.concat(parts).toString();
    parts = [];
    length = 0;
    if (line !== "") onRecord(JSON.parse(line));
  }

  return {
    push(chunk: Buffer): void {
      let from = 0;
      for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
        add(chunk.subarray(from, at));
        finish();
        from = at + 1;
      }
      add(chunk.subarray(from));
    },
  };
}

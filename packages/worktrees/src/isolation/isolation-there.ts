import { readFile, rm, writeFile } from "node:fs/promises";
import { posix } from "node:path";
import { ToolError } from "@tau-agent/agent";
import type { Workspace } from "@tau-agent/rpc-protocol/workspace";
import { isolatedTreePath, randomHex, writeFileAtomic } from "@tau-agent/system";
import { keepingModes } from "../elsewhere/keep-modes.ts";
import { closedIn, openStoreScript, recordScript } from "../elsewhere/record-script.ts";
import { namesIn, runThere } from "../elsewhere/run-there.ts";
import { parseRawChanges } from "../git/lists.ts";
import { type Change, type MergeAttempt, type MergeOutcome, mergeAll } from "./merge-back.ts";
import { readStatistics } from "./repository/patch.ts";
import {
  branchScript,
  mergeScript,
  openRunScript,
  treeScript,
  writeTreeScript,
} from "./scripts-there.ts";
import { slugOf } from "./task-file-names.ts";
import type { TaskIsolation } from "./task-isolation.ts";
import type { KeptCommits } from "./trees/commits.ts";
import type { CapturedWork, IsolatedTree, KeptFile } from "./trees/isolated-tree.ts";
import type { KeptWork } from "./trees/keep-work.ts";
import { patchRefusal } from "./trees/patch-refusal.ts";

export interface IsolationThereOptions {
  readonly workspace: Workspace;
  /** The caller's folder in the workspace. */
  readonly cwd: string;
  /** Real paths of files and folders that must not be in any copy. */
  readonly closed?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Larger untracked files are left out. */
const MAX_FILE_BYTES = 50 * 1024 * 1024;
/** The name under which the caller's own files are recorded. */
const CALLER = "caller";

interface Place {
  readonly run: string;
  /** The top of the caller's repository, or the folder itself if there is none. */
  readonly folder: string;
  readonly isRepository: boolean;
  /** The relative path from there to the caller's folder. */
  readonly below: string;
}

/** A tree as found by another host. */
interface LeftTree {
  readonly run: string;
  readonly session: string;
  readonly root: string;
  readonly baseline: string;
}

type Run = (
  script: string,
  options?: {
    readonly words?: readonly string[];
    readonly variables?: Readonly<Record<string, string>>;
    readonly signal?: AbortSignal | undefined;
  },
) => Promise<Buffer>;

/**
 * Isolated trees in a workspace on another machine, made by git there. Each step is one script. Patches
 * come to the host, where the session keeps them.
 */
export class IsolationThere implements TaskIsolation {
  readonly leftOut: readonly string[];
  readonly #workspace: Workspace;
  readonly #place: Place;
  readonly #baseline: string;
  readonly #run: Run;
  readonly #signal: AbortSignal | undefined;
  #count = 0;

  private constructor(
    { workspace, signal }: IsolationThereOptions,
    place: Place,
    run: Run,
    baseline: { readonly tree: string; readonly leftOut: readonly string[] },
  ) {
    this.#workspace = workspace;
    this.#signal = signal;
    this.#place = place;
    this.#run = run;
    this.#baseline = baseline.tree;
    this.leftOut = baseline.leftOut;
  }

  /**
   * Records the caller's working state.
   *
   * @throws {ToolError} there is no git
   */
  static async open(options: IsolationThereOptions): Promise<IsolationThere> {
    const { workspace, cwd, closed, signal } = options;
    const { homeDirectory, platform } = await workspace.describe();
    if (platform === "win32") throw new ToolError("Isolated tasks need a POSIX shell there.");
    const top = `${homeDirectory}/.cache/tau`;
    const run = `${top}/worktrees/${randomHex(4)}`;
    const environment = { cwd, top, run };
    const opened = await runThere({ workspace, cwd, script: openRunScript, environment, signal });
    const [root = "", real = cwd] = namesIn(opened).map(shown);
    const folder = root || real;
    const place = { run, folder, isRepository: root !== "", below: posix.relative(folder, real) };
    const variables = {
      ...{ top, run, root, folder, below: place.below, store: `${run}/store` },
      ...{ most: String(MAX_FILE_BYTES), session: CALLER },
      closed: closedIn(folder, closed),
    };
    const runIn: Run = (script, { words, variables: more = {}, signal: own = signal } = {}) =>
      runThere({
        ...{ workspace, cwd: folder, words, signal: own },
        script: openStoreScript + script,
        environment: { ...variables, ...more },
      });
    try {
      return new IsolationThere(options, place, runIn, readRecord(await runIn(recordScript)));
    } catch (error) {
      await removeRun(workspace, run);
      throw error;
    }
  }

  async createTree(): Promise<IsolatedTree> {
    this.#count += 1;
    const session = `tree${this.#count}`;
    const tree = isolatedTreePath(this.#place.run, this.#count);
    const made = await this.#run(treeScript, {
      variables: { tree, session, baseline: this.#baseline },
    });
    const [root = tree, head = ""] = namesIn(made).map(shown);
    const variables = { session, folder: root, closed: "" };
    let note: string | undefined;
    const record = async () => readRecord(await this.#run(recordScript, { variables }));
    const restore = async (wanted: string): Promise<void> => {
      await record();
      const script = `GIT_INDEX_FILE=$store/index.$session
export GIT_INDEX_FILE
git read-tree --reset -u "$1"`;
      await this.#run(script, { variables, words: [wanted] });
    };
    return {
      cwd: this.#place.below === "" ? root : posix.join(root, this.#place.below),
      apply: async (patch) => restore(await this.#patched(patch)),
      secure: async (name) => {
        note = noteOf(`${name}.patch`);
        const left: LeftTree = { run: this.#place.run, session, root, baseline: this.#baseline };
        await writeFileAtomic(note, JSON.stringify(left));
      },
      capture: async () => ({ ...(await record()), submodules: [] }),
      restore: ({ tree: wanted }) => restore(wanted),
      keepFiles: (work, folder) => this.#keepFiles(root, work, folder),
      keepCommits: (path) => this.#keepCommits(root, head, path),
      remove: async () => {
        if (note !== undefined) await rm(note, { force: true });
        if (this.#signal?.aborted) return;
        await this.#workspace.remove(root, { recursive: true }).catch(() => {});
      },
    };
  }

  /** Keeps work for up to two days after its host was killed: until then the trees stay in the workspace. */
  async keepLeft(patch: string): Promise<void> {
    const text = await readFile(noteOf(patch), "utf8").catch(() => undefined);
    if (text === undefined) return;
    const { run, session, root, baseline } = JSON.parse(text) as LeftTree;
    const variables = { run, store: `${run}/store`, session, folder: root, closed: "", baseline };
    try {
      const { tree } = readRecord(await this.#run(recordScript, { variables }));
      await this.#writePatch(tree, variables, patch);
    } finally {
      await removeRun(this.#workspace, run);
    }
    await rm(noteOf(patch));
  }

  keepWork({ tree }: CapturedWork, path: string): Promise<KeptWork> {
    return this.#writePatch(tree, { baseline: this.#baseline }, path);
  }

  async #writePatch(
    tree: string,
    variables: Readonly<Record<string, string>>,
    path: string,
  ): Promise<KeptWork> {
    const script = `
git diff --numstat -z --find-renames "$baseline" "$1" || exit 1
printf '\\0\\0'
git diff --binary --full-index --find-renames --no-color --no-ext-diff --no-textconv \\
  --src-prefix=a/ --dst-prefix=b/ "$baseline" "$1"`;
    const output = await this.#run(script, { variables, words: [tree] });
    // The last name ends with a NUL, too; an empty list has none.
    const end = output.indexOf("\0\0");
    const gap = output.subarray(end).findIndex((byte) => byte !== 0);
    const patch = gap === -1 ? output.subarray(output.length) : output.subarray(end + gap);
    const statistics = readStatistics(output.toString("utf8", 0, end + 1));
    await writeFile(path, patch, { mode: 0o600 });
    const isChanged = statistics.filesChanged > 0;
    return { statistics, parts: isChanged ? [{ prefix: "", path }] : [], unmerged: [] };
  }

  mergeChanges(
    changes: readonly Change[],
    signal: AbortSignal | undefined,
  ): Promise<Map<string, MergeOutcome>> {
    return mergeAll(changes, (some) => this.#tryToMerge(some, signal));
  }

  async makeBranch(change: Change): Promise<MergeOutcome> {
    const { run, isRepository } = this.#place;
    if (!isRepository) {
      return { status: "conflict", reason: "There is no git repository for a branch." };
    }
    const patch = `${run}/branch.patch`;
    const script = `git diff --binary --full-index "$baseline" "$3" >"$2" || exit 1\n${branchScript}`;
    const words = [`tau/${slugOf(change.id)}-${run.slice(-8)}`, patch, change.tree];
    const variables = { baseline: this.#baseline, message: `Task ${change.id}` };
    const [branch = ""] = namesIn(await this.#run(script, { words, variables }));
    return { status: "branch", branch: shown(branch) };
  }

  async dispose(): Promise<void> {
    await removeRun(this.#workspace, this.#place.run);
  }

  async #tryToMerge(
    changes: readonly Change[],
    signal: AbortSignal | undefined,
  ): Promise<MergeAttempt> {
    const before = readRecord(await this.#run(recordScript, { signal })).tree;
    const variables = { baseline: this.#baseline };
    const words = [before, ...changes.map(({ tree }) => tree)];
    const said = namesIn(await this.#run(mergeScript, { words, variables, signal })).map(shown);
    const outcomes = new Map<string, MergeOutcome>();
    for (const [index, { id }] of changes.entries()) {
      const [status, ...reasons] = (said[index] ?? "").split("\n");
      const reason = reasons.join("\n").trim();
      outcomes.set(id, status === "applied" ? { status } : { status: "conflict", reason });
    }
    const after = said.at(-1) ?? before;
    if (after === before) return { outcomes };
    signal?.throwIfAborted();
    const raw = 'git diff-tree -r -z --raw --no-renames --no-abbrev "$1" "$2"';
    const range = [before, after];
    const replaced = parseRawChanges(namesIn(await this.#run(raw, { words: range })));
    const kept = replaced.flatMap(({ oldMode, newMode, path }) =>
      Number(oldMode) > 0 && Number(newMode) > 0 ? [path] : [],
    );
    const place = { workspace: this.#workspace, folder: this.#place.folder };
    // Once it has started, it is not aborted.
    const write = () => this.#run(writeTreeScript, { words: range, signal: undefined });
    const refusal = (await keepingModes(place, kept, write)).toString().trim();
    return refusal === "" ? { outcomes } : { outcomes, refusal };
  }

  /** The caller's state with a kept patch applied. */
  async #patched(patch: string): Promise<string> {
    const copy = `${this.#place.run}/resumed.patch`;
    await this.#workspace.write(copy, await readFile(patch), { mode: 0o600 });
    const script = `
GIT_INDEX_FILE=$store/index.resumed
export GIT_INDEX_FILE
git read-tree "$baseline" || exit 1
git apply --cached --3way --whitespace=nowarn "$1" 2>&1 >/dev/null && printf '\\0' && git write-tree
exit 0`;
    const variables = { baseline: this.#baseline };
    const said = (await this.#run(script, { variables, words: [copy] })).toString();
    const [problem = "", tree] = said.split("\0");
    if (tree === undefined) throw patchRefusal(patch, problem);
    return tree.trim();
  }

  /** Moves them out of the tree, within the workspace. */
  async #keepFiles(root: string, { leftOut }: CapturedWork, folder: string): Promise<KeptFile[]> {
    const target = `${posix.dirname(posix.dirname(this.#place.run))}/kept/${posix.basename(folder)}`;
    return Promise.all(
      leftOut.map(async (path): Promise<KeptFile> => {
        const keptAt = posix.join(target, path);
        const script = 'umask 077; mkdir -p "$2" && mv -- "$1" "$3"';
        const words = [posix.join(root, path), posix.dirname(keptAt), keptAt];
        const isMoved = await this.#run(script, { words }).then(
          () => true,
          () => false,
        );
        return isMoved ? { path, keptAt } : { path };
      }),
    );
  }

  async #keepCommits(root: string, head: string, path: string): Promise<KeptCommits | undefined> {
    const script = `
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
cd -- "$1" || exit 1
bundle=$run/commits.$$
git for-each-ref --format='%(refname)%00%(objectname)'
echo
git rev-parse HEAD
git bundle create --quiet "$bundle" --all HEAD "^$2" >/dev/null 2>&1 && cat "$bundle"
rm -f "$bundle"`;
    const output = await this.#run(script, { words: [root, head] });
    const end = output.indexOf("\n\n");
    const start = output.indexOf("\n", end + 2) + 1;
    const lines = output.toString("utf8", 0, Math.max(0, end)).split("\n");
    const refs = lines.flatMap((line) => {
      const [name = "", id] = line.split("\0");
      return name !== "" && id !== head ? [name] : [];
    });
    if (output.toString("utf8", end + 2, start - 1) !== head) refs.unshift("HEAD");
    if (refs.length === 0) return undefined;
    if (start >= output.length) return { refs };
    await writeFile(path, output.subarray(start), { mode: 0o600 });
    return { refs, path };
  }
}

function noteOf(patch: string): string {
  return `${patch}.left.json`;
}

function readRecord(output: Buffer): { tree: string; leftOut: readonly string[] } {
  const [tree = "", ...rest] = namesIn(output);
  return { tree, leftOut: rest.slice(0, rest.indexOf("")).map(shown) };
}

/** A name as text; before, each of its characters is a byte. */
function shown(name: string): string {
  return Buffer.from(name, "latin1").toString("utf8");
}

async function removeRun(workspace: Workspace, run: string): Promise<void> {
  const script = 'rm -rf -- "$1" || { chmod -R u+rwX -- "$1"; rm -rf -- "$1"; }';
  const { homeDirectory: cwd } = await workspace.describe();
  // Otherwise a later call removes it.
  await runThere({ workspace, cwd, script, words: [run] }).catch(() => {});
}

import type { Workspace } from "@tau-agent/rpc-protocol/workspace";
import { hostPlaceReason, isHostPlace, type ToolEnvironment } from "@tau-agent/system";
import { keepingModes } from "../elsewhere/keep-modes.ts";
import {
  closedIn,
  differenceScript,
  openStoreScript,
  recordScript,
} from "../elsewhere/record-script.ts";
import { listOf, namesIn, runThere, tryThere } from "../elsewhere/run-there.ts";
import { foldersAbove } from "../git/file-names.ts";
import { parseRawChanges } from "../git/lists.ts";
import type { CheckpointPlace } from "./checkpoint-store.ts";
import type { FileState } from "./files/file-state.ts";
import type { MergeContents } from "./merge/merge-state.ts";
import type { Snapshots } from "./snapshots.ts";
import { hashOf } from "./store/open-store.ts";

const refs = "refs/tau/checkpoints";
const usual = [0o644, 0o755] as const;
/** In the message of a snapshot's commit, the last line before the paths that were left out. */
const leftOutMark = "left out:";

interface PlaceThere extends CheckpointPlace {
  readonly sessionId: string;
  /** Its sandbox names the files that no snapshot may contain. */
  readonly environment?: Pick<ToolEnvironment, "sandbox"> | undefined;
}

/** Opens the snapshots; the first snapshot makes missing folders. */
export async function openSnapshotsThere(
  workspace: Workspace,
  place: PlaceThere,
): Promise<Snapshots> {
  const { homeDirectory } = await workspace.describe();
  return createSnapshotsThere(workspace, place, homeDirectory);
}

/** Sets files to the states in lists, and prints the paths for which that failed. */
const writeScript = `
GIT_INDEX_FILE=$1.index
export GIT_INDEX_FILE
if [ -s "$1.gone" ]; then
  xargs -0 rm -f -- <"$1.gone" 2>/dev/null
  xargs -0 -n 1 rmdir -- <"$1.folders" 2>/dev/null
fi
rm -f "$1.index"
git update-index -z --index-info <"$1.wanted" || exit 1
git checkout-index -f -q -a 2>/dev/null
git update-index -q --refresh >/dev/null 2>&1
git diff-files -z --name-only
if [ -s "$1.gone" ]; then xargs -0 sh -c 'for path; do
  if [ -e "$path" ] || [ -L "$path" ]; then printf "%s\\0" "$path"; fi
done' tau <"$1.gone"; fi
rm -f "$1".*`;

/** Merges three versions of a content, and prints the id of the result. */
const mergeScript = `
work=$store/merge.$$
trap 'rm -rf "$work"' EXIT
mkdir -m 700 "$work" || exit 1
for part in base ours theirs; do git cat-file blob "$1" >"$work/$part" || exit 1; shift; done
cd "$work" && git merge-file -p --quiet ours base theirs >merged && git hash-object -w --no-filters merged`;

/**
 * Snapshots of a folder in a workspace on another machine, in our own store there. Files that the project
 * ignores are not recorded; of permissions only whether a file is executable.
 */
function createSnapshotsThere(
  workspace: Workspace,
  place: PlaceThere,
  homeDirectory: string,
): Snapshots {
  const { folder } = place;
  /** The content of the newest snapshot. */
  let last: { readonly tree: string; readonly files: ReadonlyMap<string, FileState> } | undefined;
  const lastRef = `${refs}/last/${hashOf(folder)}`;
  const fixed = variablesOf(place, homeDirectory);

  function request(
    script: string,
    words: readonly string[],
    variables: Readonly<Record<string, string>> = {},
  ) {
    return {
      ...{ workspace, cwd: folder, words },
      script: openStoreScript + script,
      environment: { ...fixed, ...variables },
    };
  }

  const run = (...asked: Parameters<typeof request>) => runThere(request(...asked));

  return {
    folder,
    isApart: true,
    async take(message, parents = []) {
      const script = `${recordScript}
{ printf '%s\\n\\n%s\\n' "$message" "${leftOutMark}"; cat "$out"; } >"$out.message"
commit=$(git commit-tree "$tree" "$@" -F "$out.message") || exit 1
printf '%s\\0' "$commit"
${differenceScript}`;
      const base = last?.tree ?? "";
      const words = parents.flatMap((parent) => ["-p", parent]);
      const names = namesIn(await run(script, words, { base, message }));
      const [tree = "", ...rest] = names;
      const end = rest.indexOf("");
      const notCovered = rest.slice(0, end).sort();
      const [commit = "", kind, ...listed] = rest.slice(end + 1);
      const files = new Map(kind === "diff" ? last?.files : []);
      if (kind === "all") for (const entry of listed) addEntry(files, entry);
      else {
        for (const { path, newMode, newId } of parseRawChanges(listed)) {
          const state = stateOf(newMode, newId);
          if (state === undefined) files.delete(path);
          else files.set(path, state);
        }
      }
      last = { tree, files };
      return { commit, tree, files, notes: { notCovered, usual, modes: {} } };
    },
    async keep(name, { commit }) {
      const script = 'git update-ref "$1" "$3" && git update-ref "$2" "$3"';
      await run(script, [`${refs}/${name}`, lastRef, commit]);
    },
    async keepLast({ commit }) {
      await run('git update-ref "$1" "$2"', [lastRef, commit]);
    },
    async drop(names) {
      if (names.length === 0) return;
      const script = 'for ref in "$@"; do git update-ref -d "$ref" || exit 1; done';
      await run(
        script,
        names.map((name) => `${refs}/${name}`),
      );
    },
    refusalOf: (path) => (isHostPlace(path) ? hostPlaceReason : undefined),
    async changesBetween(before, after) {
      const script = `
for commit in "$@"; do git log -1 --format=%B "$commit" || exit 1; printf '\\0'; done
git diff-tree -r -z --raw --no-renames --no-abbrev "$1^{tree}" "$2^{tree}"`;
      const names = namesIn(await run(script, [before, after]));
      const [old = "", now = "", ...raw] = names;
      const notCovered = [...new Set([...leftOutOf(old), ...leftOutOf(now)])].sort();
      const changes = parseRawChanges(raw).map(({ path, oldMode, oldId, newMode, newId }) => ({
        path,
        before: stateOf(oldMode, oldId),
        after: stateOf(newMode, newId),
      }));
      return { changes, notCovered };
    },
    get mergeContents(): MergeContents {
      return async (...ids) => {
        const { exitCode, stdout } = await tryThere(request(mergeScript, ids));
        return exitCode === 0 ? stdout.toString().trim() : undefined;
      };
    },
    async writeFiles({ current, targets }) {
      const gone: string[] = [];
      const wanted: string[] = [];
      for (const [path, state] of targets) {
        if (state === undefined) gone.push(path);
        else wanted.push(`${modeOf(state)} ${state.id}\t${path}`);
      }
      const lists = `${fixed.store}/write.${fixed.session}`;
      const folders = [...new Set(gone.flatMap(foldersAbove))].sort((a, b) => b.length - a.length);
      await Promise.all([
        workspace.write(`${lists}.gone`, listOf(gone), { mode: 0o600 }),
        workspace.write(`${lists}.folders`, listOf(folders), { mode: 0o600 }),
        workspace.write(`${lists}.wanted`, listOf(wanted), { mode: 0o600 }),
      ]);
      const replaced = [...targets.keys()].filter((path) => current.has(path));
      const write = () => run(writeScript, [lists]);
      const failed = namesIn(await keepingModes({ workspace, folder }, replaced, write));
      return new Map(failed.map((path) => [path, "it could not be written"]));
    },
  };
}

/** The variables of every script. */
function variablesOf(
  { folder, limits, sessionId, environment }: PlaceThere,
  homeDirectory: string,
) {
  const top = `${homeDirectory}/.cache/tau`;
  return {
    ...{ folder, top, store: `${top}/rewind/${hashOf(folder)}` },
    ...{ most: String(limits.maxFileBytes), session: hashOf(sessionId) },
    closed: closedIn(folder, environment?.sandbox?.closed),
  };
}

function addEntry(files: Map<string, FileState>, entry: string): void {
  const [, mode = "", id = "", path = ""] = /^(\d+) \w+ (\w+)\t(.*)$/s.exec(entry) ?? [];
  const state = stateOf(mode, id);
  if (state !== undefined) files.set(path, state);
}

function stateOf(mode: string, id: string): FileState | undefined {
  if (mode === "120000") return { kind: "link", mode: 0, id };
  if (!mode.startsWith("100")) return undefined;
  return { kind: "file", mode: usual[mode === "100755" ? 1 : 0], id };
}

function modeOf({ kind, mode }: FileState): string {
  if (kind === "link") return "120000";
  return mode & 0o100 ? "100755" : "100644";
}

function leftOutOf(message: string): string[] {
  const lines = message.split("\n");
  return lines.slice(lines.indexOf(leftOutMark) + 1).filter((line) => line !== "");
}

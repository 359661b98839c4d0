/**
 * Opens the private folder `$run` of a call, finds the repository of `$cwd`, and prints the repository's root
 * (empty if there is none) and the folder's real path. Leftovers of killed hosts are removed after two days.
 */
export const openRunScript = `
command -v git >/dev/null 2>&1 || { echo "isolated tasks need git there" >&2; exit 127; }
(
  umask 077
  mkdir -p "\${top%/*}" && mkdir -p "$top" && chmod 700 "$top" && mkdir -p "$top/worktrees" "$run"
) || exit 1
find "$top/worktrees/." ! -name . -prune -mtime +2 -exec rm -rf {} + 2>/dev/null
root=$(git rev-parse --show-toplevel 2>/dev/null)
printf '%s\\0%s\\0' "$root" "$(pwd -P)"
`;

/**
 * Makes the tree \`$tree\` of a task from the caller's state \`$baseline\`, with a separate repository that
 * knows the caller's commits, and prints its real path and the checked-out commit.
 */
export const treeScript = `
mkdir -p "$tree/$below" || exit 1
( unset GIT_DIR GIT_WORK_TREE; git init --quiet --template= "$tree" && mkdir -p "$tree/.git/objects/info" ) || exit 1
(
  GIT_WORK_TREE=$tree GIT_INDEX_FILE=$store/index.$session
  export GIT_WORK_TREE GIT_INDEX_FILE
  git read-tree "$baseline" && cd -- "$tree" && git checkout-index -a -f -q
) || exit 1
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
head=
branch=refs/heads/main
if [ -n "$root" ]; then
  common=$(git -C "$root" rev-parse --git-common-dir) || exit 1
  common=$(cd -- "$root" && cd -- "$common" && pwd -P) || exit 1
  head=$(git -C "$root" rev-parse --verify --quiet HEAD) || head=
  branch=$(git -C "$root" symbolic-ref --quiet HEAD) || branch=refs/heads/main
fi
cd -- "$tree" || exit 1
{ echo "$store/objects"; [ -z "$root" ] || echo "$common/objects"; } >.git/objects/info/alternates
git symbolic-ref HEAD "$branch" || exit 1
if [ -n "$head" ]; then git update-ref "$branch" "$head" && git read-tree HEAD || exit 1
else
  head=$(git commit-tree "$baseline" -m "Working state at the start of a task") || exit 1
  git update-ref "$branch" "$head" && git read-tree HEAD || exit 1
fi
git update-index -q --refresh >/dev/null 2>&1
printf '%s\\0%s\\0' "$(pwd -P)" "$head"
`;

/** Applies the difference between \`$baseline\` and each tree in turn to the tree \`$1\`, and prints the outcomes. */
export const mergeScript = `
scratch=$run/scratch.$$
mkdir "$scratch" || exit 1
current=$1; shift
GIT_WORK_TREE=$scratch GIT_INDEX_FILE=$scratch.index
export GIT_WORK_TREE GIT_INDEX_FILE
cd -- "$scratch" || exit 1
for theirs; do
  git diff --binary --full-index --no-renames "$baseline" "$theirs" >"$scratch.patch" || exit 1
  git read-tree "$current" || exit 1
  if [ ! -s "$scratch.patch" ] || git apply --cached --3way --whitespace=nowarn "$scratch.patch" 2>"$scratch.errors" >/dev/null
  then current=$(git write-tree) || exit 1; printf 'applied\\0'
  else printf 'conflict\\n'; grep -E '^error:|with conflicts' "$scratch.errors" | head -n 10; printf '\\0'
  fi
done
printf '%s\\0' "$current"
cd / && rm -rf "$scratch" "$scratch".*
`;

/** Writes the tree \`$2\` over the caller's files if they match the tree \`$1\`: all of it, or nothing. */
export const writeTreeScript = `
GIT_INDEX_FILE=$store/index.$session
export GIT_INDEX_FILE
git read-tree -m -u "$1" "$2" 2>&1 >/dev/null | grep -v '^warning:' | head -n 10
`;

/** Makes a branch \`$1\`, or one of a similar name, in the caller's repository from the patch in \`$2\`; prints its name. */
export const branchScript = `
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
cd -- "$root" || exit 1
scratch=$run/branch.$$
mkdir "$scratch" || exit 1
gitdir=$(cd -- "$(git rev-parse --git-common-dir)" && pwd -P) || exit 1
head=$(git rev-parse --verify --quiet HEAD) || { echo "the repository has no commit" >&2; exit 1; }
GIT_DIR=$gitdir GIT_WORK_TREE=$scratch GIT_INDEX_FILE=$scratch.index
export GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
cd -- "$scratch" || exit 1
git read-tree "$head" && git apply --cached --3way --whitespace=nowarn "$2" >/dev/null || exit 1
made=$(git commit-tree "$(git write-tree)" -p "$head" -m "$message") || exit 1
name=$1 count=1
while git show-ref --verify --quiet "refs/heads/$name"; do count=$((count + 1)); name=$1-$count; done
git branch --no-track "$name" "$made" || exit 1
cd / && rm -rf "$scratch" "$scratch".*
printf '%s\\0' "$name"
`;

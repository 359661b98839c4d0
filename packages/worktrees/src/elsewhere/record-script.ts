/**
 * Prepares our own store in `$store` for the folder `$folder`: a bare repository that is independent of
 * the user's and the project's settings. `.gitattributes` of the project change no bytes.
 */
export const openStoreScript = `
command -v git >/dev/null 2>&1 || { echo "there is no git" >&2; exit 127; }
if [ ! -f "$store/HEAD" ]; then (
  umask 077
  mkdir -p "\${top%/*}" && mkdir -p "$top" && chmod 700 "$top" && mkdir -p "\${store%/*}" || exit 1
  git init --quiet --bare --template= "$store" && mkdir -p "$store/info" || exit 1
  printf '* -text -filter -ident -working-tree-encoding\\n' >"$store/info/attributes"
) || exit 1; fi
GIT_DIR=$store GIT_WORK_TREE=$folder
export GIT_DIR GIT_WORK_TREE
cd -- "$folder" || exit 1
git() {
  command git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c core.quotePath=false \\
    -c core.autocrlf=false -c core.excludesFile=/dev/null -c core.splitIndex=false -c gc.auto=0 \\
    -c core.untrackedCache=false -c core.logAllRefUpdates=false -c advice.addEmbeddedRepo=false "$@"
}
`;

/**
 * Records `$folder` as a tree, and prints its id, the paths that were left out (files larger than `$most` bytes, nested
 * repositories, paths in the lines of `$closed`), an empty name, and the files of the tree: all of them, or those that
 * differ from the tree `$base`. Everything is NUL-terminated.
 */
export const recordScript = `
GIT_INDEX_FILE=$store/index.$session
export GIT_INDEX_FILE
out=$store/out.$session
rm -f "$GIT_INDEX_FILE.lock"
find . -name .git -prune -print -o -type f -size +"$most"c -print 2>/dev/null |
  sed -n -e 's,^\\./,,' -e '/^\\.git$/d' -e 's,/\\.git$,,' -e p >"$out"
[ -z "$closed" ] || printf '%s\n' "$closed" >>"$out"
sed -e 's,[][*?\\\\!# ],\\\\&,g' -e 's,^,/,' "$out" >"$store/info/exclude.$session"
git -c "core.excludesFile=$store/info/exclude.$session" add -A --ignore-errors . >/dev/null 2>"$out.errors" || :
tree=$(git write-tree) || { cat "$out.errors" >&2; exit 1; }
printf '%s\\0' "$tree"
tr '\\n' '\\0' <"$out"
printf '\\0'
`;

/**
 * The value of `$closed`: paths in a folder that nobody in the sandbox may read, so that they must not be recorded.
 */
export function closedIn(folder: string, closed: readonly string[] = []): string {
  const prefix = folder.endsWith("/") ? folder : `${folder}/`;
  const inside = closed.filter((path) => path.startsWith(prefix) && !path.includes("\n"));
  return inside.map((path) => path.slice(prefix.length)).join("\n");
}

/** The files of the tree `$tree` that differ from the tree `$base`. */
export const differenceScript = `
if [ -n "$base" ] && git cat-file -e "$base" 2>/dev/null
then printf 'diff\\0'; git diff-tree -r -z --raw --no-renames --no-abbrev "$base" "$tree"
else printf 'all\\0'; git ls-tree -r -z "$tree"
fi
`;

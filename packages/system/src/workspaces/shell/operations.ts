import type { WorkspaceErrorCode } from "@tau-agent/rpc-protocol/workspace";

/** The exit statuses of the functions below, and the error codes they mean. */
export const statusCodes: Readonly<Record<number, WorkspaceErrorCode>> = {
  10: "not_found",
  11: "exists",
  12: "not_a_directory",
  13: "is_a_directory",
  14: "not_empty",
  15: "not_allowed",
  16: "too_large",
  17: "no_space",
  18: "not_allowed",
};
/** The status for a path outside of the limits of a call; the output is the real path. */
export const outside = 15;
/** The status of `t_stat` if nothing is there. */
export const nothingThere = 20;

/**
 * Shell functions that do the work on files. Each runs in a subshell and either prints its result and ends
 * with 0, or prints the reason and ends with another status. `t_judge` checks the real path in `r`; a
 * request with limits redefines it.
 */
export const operations = `
LC_ALL=C; export LC_ALL; unset GLOBIGNORE CDPATH
n='
'
t_end() { printf %s "$2"; exit "$1"; }
t_denied() { t_end 18 ''; }
t_why() {
  case $1 in
    *"No space left"* | *uota*xceeded*) t_end 17 '' ;;
    *"ermission denied"* | *"not permitted"* | *"Read-only"*) t_denied ;;
    *) t_end 19 "$1" ;;
  esac
}
t_judge() { :; }
t_inside() {
  case $r/ in "\${1%/}"/*) return 0 ;; esac
  [ -e "$1" ] || return 1
  t_kept=$r
  t_real "$1" || r=$1
  t_root=$r r=$t_kept
  case $r/ in "\${t_root%/}"/*) return 0 ;; esac
  return 1
}
t_absent() {
  d=$1
  while [ "$d" != / ]; do
    d=\${d%/*}; d=\${d:-/}
    if [ -d "$d" ]; then
      [ -x "$d" ] && exit "$2"
      t_denied
    fi
    [ -e "$d" ] && exit "$3"
  done
  exit "$2"
}
t_folder() {
  r=$(cd -P "$1" 2>/dev/null && pwd -P && printf .) || return 1
  r=\${r%.}; r=\${r%"$n"}
}
t_real() {
  f=$1 c=0
  while [ -L "$f" ]; do
    c=$((c + 1)); [ "$c" -gt 40 ] && return 2
    l=$(readlink "$f"; printf .); l=\${l%.}; l=\${l%"$n"}
    case $l in /*) f=$l ;; *) f=\${f%/*}/$l ;; esac
  done
  if [ -d "$f" ]; then t_folder "$f"; return; fi
  t_place "$f"
}
t_place() {
  d=\${1%/*}; f=\${1##*/}
  case $f in . | ..) t_folder "$1"; return ;; esac
  t_folder "\${d:-/}" || return 1
  r=\${r%/}/$f
}
if case $(stat -c %f / 2>/dev/null) in *[0-9]*) ;; *) false ;; esac; then
  t_line() { stat -c '%f %s %Y' "$1" 2>/dev/null; }
elif stat -f %Xp / >/dev/null 2>&1; then
  t_line() { stat -f '%Xp %z %m' "$1" 2>/dev/null; }
else
  t_line() {
    if [ -L "$1" ]; then k=a; elif [ -d "$1" ]; then k=4; elif [ -f "$1" ]; then k=8; else k=1; fi
    l=$(stat -c '%a %s' "$1" 2>/dev/null) || return 1
    printf '%s%03x %s\\n' "$k" "$((0\${l%% *}))" "\${l#* }"
  }
fi
t_mode() { t_bits=$(t_line "$1") || return 1; t_bits=$((0x\${t_bits%% *} & 07777)); }
t_stat() {
  if [ "$2" = 1 ]; then
    [ -e "$1" ] || { [ -L "$1" ] && exit 20; t_absent "$1" 20 20; }
    t_real "$1" || t_absent "$1" 20 20
  else
    [ -e "$1" ] || [ -L "$1" ] || t_absent "$1" 20 20
    t_place "$1" || t_absent "$1" 20 20
  fi
  t_judge
  t_line "$r" || exit 20
  printf %s "$r"
}
t_list() {
  [ -d "$1" ] || { [ -e "$1" ] && exit 12; t_absent "$1" 10 12; }
  cd -P "$1" 2>/dev/null && [ -r . ] || t_denied
  t_folder . || t_absent "$1" 10 12
  t_judge
  for f in * .*; do
    case $f in . | ..) continue ;; esac
    if [ -L "./$f" ]; then printf 'l%s\\0' "$f"
    elif [ -f "./$f" ]; then printf 'f%s\\0' "$f"
    elif [ -d "./$f" ]; then printf 'd%s\\0' "$f"
    elif [ -e "./$f" ]; then printf 'o%s\\0' "$f"
    fi
  done
}
t_open() {
  [ -e "$1" ] || { [ -L "$1" ] && exit 10; t_absent "$1" 10 12; }
  t_real "$1" || t_absent "$1" 10 12
  t_judge
  [ -d "$r" ] && exit 13
  [ -f "$r" ] || t_end 19 "Not a regular file: $r"
  [ -r "$r" ] || t_denied
}
t_read() {
  t_open "$1"
  s=$(t_line "$r") || exit 10
  s=\${s#* }; s=$((\${s% *} - $2 * $3))
  [ "$3" -gt 0 ] && [ "$s" -le 0 ] && exit 0
  if [ -n "$4" ]; then dd if="$r" bs="$2" skip="$3" count="$4" 2>/dev/null; exit; fi
  [ "$s" -gt 2147483648 ] && exit 16
  if [ "$3" = 0 ]; then cat <"$r" 2>/dev/null; exit; fi
  dd if="$r" bs="$2" skip="$3" 2>/dev/null
}
t_make() {
  d=$1 s=
  until [ -e "$d" ] || [ -L "$d" ]; do
    s=/\${d##*/}$s; d=\${d%/*}; d=\${d:-/}
  done
  [ -d "$d" ] || exit 12
  case $s/ in */../*) exit 10 ;; esac
  t_folder "$d" || t_denied
  r=\${r%/}$s
  t_judge
  e=$(mkdir -p "$1" 2>&1) || t_why "$e"
}
t_create() {
  if [ -d "$1" ]; then t_folder "$1" && t_judge; exit; fi
  if [ -e "$1" ] || [ -L "$1" ]; then exit 11; fi
  t_make "$1"
}
t_target() {
  if [ -e "$1" ] || [ -L "$1" ]; then :; else
    d=\${1%/*}; [ -d "\${d:-/}" ] || t_make "$d"
  fi
  t_real "$1"
  case $? in 1) t_absent "$1" 10 12 ;; 2) t_end 19 "Too many links: $1" ;; esac
  t_judge
  [ -d "$r" ] && exit 13
  if [ -e "$r" ]; then
    [ -f "$r" ] || t_end 19 "Not a regular file: $r"
    [ -w "$r" ] || t_denied
    t_mode "$r" || t_bits=$((0644))
  else
    t_mask=$(umask 2>/dev/null); t_mask=\${t_mask:-022}
    t_bits=$((0$2 & ~0$t_mask))
  fi
  t_folder=\${r%/*}; t_folder=\${t_folder:-/}
  if [ -w "$t_folder" ] && [ -x "$t_folder" ]; then t=$t_folder; else
    [ -e "$r" ] || t_denied
    t=\${TMPDIR:-/tmp}
  fi
}
t_replace() {
  if [ "\${t%/*}" = "\${t_folder%/}" ]; then
    e=$(chmod "$(printf %o "$t_bits")" "$t" 2>&1) || t_why "$e"
    mv -f "$t" "$r" 2>/dev/null && exit 0
  fi
  e=$( { cat "$t" >"$r"; } 2>&1) || t_why "$e"
}
t_write() {
  t_target "$1" "$2"
  t=\${t%/}/$4
  trap 'rm -f "$t"' EXIT
  trap 'exit 1' HUP INT TERM PIPE
  e=$( (umask 077; set -C; : >"$t") 2>&1) || { t_kept=$e; t=; t_why "$t_kept"; }
  e=$( { t_content | cat >"$t"; } 2>&1) || t_why "$e"
  [ "$(($(wc -c <"$t")))" = "$3" ] || t_end 19 "Only a part of the content arrived"
  t_replace
}
t_remove() {
  [ -e "$1" ] || [ -L "$1" ] || t_absent "$1" 10 12
  t_place "$1" || t_absent "$1" 10 12
  t_judge
  if [ -d "$r" ] && [ ! -L "$r" ]; then
    if [ "$2" = 1 ]; then e=$(rm -rf "$r" 2>&1) || t_why "$e"; exit; fi
    e=$(rmdir "$r" 2>&1) && exit
    for f in "$r"/* "$r"/.[!.]* "$r"/..?*; do
      if [ -e "$f" ] || [ -L "$f" ]; then exit 14; fi
    done
    t_why "$e"
  fi
  e=$(rm -f "$r" 2>&1) || t_why "$e"
}
t_rename() {
  [ -e "$1" ] || [ -L "$1" ] || t_absent "$1" 10 12
  t_place "$1" || t_absent "$1" 10 12
  t_judge
  t_from=$r
  t_place "$2" || t_absent "$2" 10 12
  t_judge
  if [ -d "$r" ] && [ ! -L "$r" ]; then exit 11; fi
  [ "$r" = "$t_from" ] && exit 0
  if [ -d "$t_from" ] && [ ! -L "$t_from" ]; then
    if [ -e "$r" ] || [ -L "$r" ]; then exit 12; fi
  fi
  if [ -d "$r" ]; then rm -f "$r"; fi
  e=$(mv -f "$t_from" "$r" 2>&1) || t_why "$e"
}
`;

import { WorkspaceError } from "@tau-agent/rpc-protocol/workspace";
import { randomHex } from "../../base/random.ts";

/** Quotes a word of a request for `sh`, so that nothing in it is interpreted. */
export function quote(text: string): string {
  if (text.includes("\0"))
    throw new WorkspaceError("failed", "A path or argument holds a NUL byte");
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Escapes bytes for `printf %b`: variables of `sh` cannot hold arbitrary bytes. */
export function escapeBytes(bytes: Uint8Array): string {
  let escaped = "";
  for (const byte of bytes) escaped += escapes[byte];
  return escaped;
}

const escapes = Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  if (character === "\n") return "\\n";
  const isPlain = byte >= 0x20 && byte < 0x7f && character !== "'" && character !== "\\";
  return isPlain ? character : `\\0${byte.toString(8).padStart(3, "0")}`;
});

/** A word that no other output contains, in two halves: printing the argument does not print the word. */
export class Mark {
  readonly halves = [`tau-${randomHex(8)}`, randomHex(8)] as const;
  readonly word = this.halves.join("-");
}

/** The bytes after the mark on stdout; a terminal in between would change them. */
export const probe = Buffer.from("\r\n\xff\n", "latin1");

/**
 * The argument that is appended to a spec's list. A login shell of any kind, including `fish` and `csh`, reads it
 * first: so it contains no line break, no `!`, and no quote or backslash after a backslash. The shell that it
 * starts prints the mark, reads requests up to a line that is the mark, and runs them.
 */
export function startArgument({ halves }: Mark): string {
  const script = [
    'n=$(printf "\\n.")',
    "n=${n%.}",
    `k=${halves[0]}`,
    `k=$k-${halves[1]}`,
    'printf "%s\\r\\n\\377\\n" "$k"',
    'printf "%s\\n" "$k" >&2',
    "t_next() { q=; while IFS= read -r l; do case $l in $k) return 0;; esac; q=$q$l$n; done; return 1; }",
    'while t_next; do eval "$q"; done',
    'if [ -n "$t_last" ]; then eval "$t_last"; fi',
  ];
  return `exec sh -c '${script.join("; ")}'`;
}

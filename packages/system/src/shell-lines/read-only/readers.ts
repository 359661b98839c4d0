import { type Accept, operandsOf, without } from "./accept-options.ts";
import { acceptGit } from "./git-readers.ts";
import { acceptAwk, acceptSed } from "./script-readers.ts";

export interface Reader {
  /** The words with which it only reads; any when absent. */
  readonly accepts?: Accept | undefined;
}

/** They write nothing, whatever their options. */
const always = [
  ...[
    ":",
    "[",
    "arch",
    "b2sum",
    "basename",
    "break",
    "cat",
    "cd",
    "cksum",
    "cmp",
    "column",
    "comm",
  ],
  ...["continue", "cut", "df", "diff", "dirname", "du", "echo", "egrep", "exit", "expand", "expr"],
  ...["false", "fgrep", "fmt", "fold", "free", "getent", "grep", "groups", "head", "hexdump", "id"],
  ...["join", "jq", "locale", "ls", "lsblk", "lscpu", "lsof", "md5sum", "nl", "nproc", "numfmt"],
  ...["od", "paste", "pgrep", "printenv", "printf", "ps", "pwd", "readlink", "realpath", "return"],
  ...["rev", "seq", "set", "sha1sum", "sha256sum", "sha512sum", "shopt", "stat", "strings", "tac"],
  ...["tail", "test", "tr", "true", "tsort", "type", "uname", "unexpand", "uptime", "wc"],
  ...["whereis", "which", "whoami", "xargs", "zcat"],
];

/** They only read if they just print their version. */
const versioned = [
  ...["bun", "cargo", "clang", "cmake", "deno", "docker", "gcc", "go", "java", "javac", "kubectl"],
  ...["make", "node", "npm", "pip", "pip3", "pnpm", "python", "python3", "ruby", "rustc", "tsc"],
  ...["yarn"],
];

const acceptVersion: Accept = (words) =>
  words.length === 1 && /^(?:--version|-v|-V|version)$/.test(words[0]?.text ?? "");
const acceptNothing: Accept = (words) => words.length === 0;

/** Actions of `find` that change files; those that run a command are judged by it. */
const findActions = /^-(?:delete|fls|fprint.*|ok|okdir)$/;

/** They only read with some of their options. */
const sometimes: readonly (readonly [string, Accept])[] = [
  // These wrappers are only judged here when they run no command.
  ["command", (words) => /^-p*[vV]/.test(words[0]?.text ?? "")],
  ["env", acceptNothing],
  ["hostname", acceptNothing],
  ["awk", acceptAwk],
  ["date", (words) => plainDate(words) && operandsOf(words).every(({ text }) => text[0] === "+")],
  ["fd", without({ short: "xX", long: ["exec", "exec-batch"] })],
  ["file", without({ short: "C", long: ["compile"] })],
  ["find", (words) => words.every(({ text }) => !findActions.test(text))],
  ["git", acceptGit],
  ["rg", without({ long: ["pre", "hostname-bin"] })],
  ["sed", acceptSed],
  ["sort", without({ short: "o", long: ["output", "compress-program"] })],
  ["tree", without({ short: "o", long: ["output"] })],
  // A second file is its output.
  ["uniq", (words) => operandsOf(words).length < 2 && words.every(({ isOpen }) => !isOpen)],
];
const plainDate = without({ short: "s", long: ["set"] });

const readers: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ...always.map((name) => [name, {}] as const),
  ...versioned.map((name) => [name, { accepts: acceptVersion }] as const),
  ...sometimes.map(([name, accepts]) => [name, { accepts }] as const),
]);

/** What is known of a command; undefined when it may write. */
export function readerOf(name: string): Reader | undefined {
  return readers.get(name);
}

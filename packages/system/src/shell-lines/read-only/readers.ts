import { type Accept, operandsOf, without } from "./accept-options.ts";
import { acceptGit } from "./git-readers.ts";
import { acceptAwk, acceptSed } from "./script-readers.ts";

export interface Reader {
  /** Accepts the words with which the command only reads; any words if absent. */
  readonly accepts?: Accept | undefined;
}

/** Commands that write nothing, whatever their options. */
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

/** Commands that only read if they just print their version. */
const versioned = [
  ...["bun", "cargo", "clang", "cmake", "deno", "docker", "gcc", "go", "java", "javac", "kubectl"],
  ...["make", "node", "npm", "pip", "pip3", "pnpm", "python", "python3", "ruby", "rustc", "tsc"],
  ...["yarn"],
];

const acceptVersion: Accept = (words) =>
  words.length === 1 && /^(?:--version|-v|-V|version)$/.test(words[0]?.text ?? "");
const acceptNothing: Accept = (words) => words.length === 0;

/** Actions of `find` that change files; for those that run a command, the command is judged. */
const findActions = /^-(?:delete|fls|fprint.*|ok|okdir)$/;

/** Commands that only read with some of their options. */
const sometimes: readonly (readonly [string, Accept])[] = [
  // Wrappers that are judged here only if they run no command.
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
  // The second file is the output.
  ["uniq", (words) => operandsOf(words).length < 2 && words.every(({ isOpen }) => !isOpen)],
];
const plainDate = without({ short: "s", long: ["set"] });

const readers: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ...always.map((name) => [name, {}] as const),
  ...versioned.map((name) => [name, { accepts: acceptVersion }] as const),
  ...sometimes.map(([name, accepts]) => [name, { accepts }] as const),
]);

/** What is known about a command; undefined if it may write. */
export function readerOf(name: string): Reader | undefined {
  return readers.get(name);
}

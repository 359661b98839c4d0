import type { ShellWord } from "../line/shell-word.ts";
import { type Accept, operandsOf, without } from "./accept-options.ts";

/** Options that make any git command write a file or run a program. */
const plain = without({
  long: [
    ...["output", "output-directory", "ext-diff", "textconv", "filters", "show-signature"],
    ...["open-files-in-pager", "exec", "contents"],
  ],
});

const always = [
  ...["annotate", "blame", "cat-file", "check-attr", "check-ignore", "cherry", "count-objects"],
  ...["describe", "diff", "diff-files", "diff-index", "diff-tree", "for-each-ref", "log"],
  ...["ls-files", "ls-tree", "merge-base", "name-rev", "range-diff", "rev-list", "rev-parse"],
  ...["shortlog", "show", "show-branch", "show-ref", "status", "var", "version", "whatchanged"],
];

/** Commands that only list, given words of this form. */
const lists: Readonly<Record<string, RegExp>> = {
  config: /^(?:--get|--get-all|--get-regexp|--list|-l|get|list)$/,
  notes: /^(?:list|show)$/,
  reflog: /^show$/,
  remote: /^(?:-v|--verbose|get-url)$/,
  stash: /^(?:list|show)$/,
  worktree: /^list$/,
};
/** Those commands that list when given no words. */
const listsAlone = new Set(["notes", "reflog", "remote"]);

const listingRefs = /^(?:-l|--list|--(?:no-)?(?:contains|merged)(?:=.*)?|--points-at(?:=.*)?)$/;
const refOptions =
  /^-(?:a|r|v|vv|l|n\d*|-all|-remotes|-verbose|-list|-show-current|-(?:no-)?(?:contains|merged)(?:=.*)?|-points-at(?:=.*)?|-sort=.*|-format=.*|-no-color|-column)$/;

/** A name without a listing option creates a branch or a tag. */
const acceptRefs: Accept = (words) => {
  if (words.some(({ isOpen }) => isOpen)) return false;
  const options = words.filter(({ text }) => text.startsWith("-"));
  if (!options.every(({ text }) => refOptions.test(text))) return false;
  return operandsOf(words).length === 0 || options.some(({ text }) => listingRefs.test(text));
};

const globalOptions = new Set(["--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs"]);

export const acceptGit: Accept = (words) => {
  let index = 0;
  for (let text = words[index]?.text; text?.startsWith("-"); text = words[index]?.text) {
    if (text === "--version") return words.length === 1;
    if (text === "-C" && words[index + 1]?.isOpen === false) index += 2;
    else if (globalOptions.has(text)) index += 1;
    else return false;
  }
  const [command, ...rest] = words.slice(index);
  return command?.isLiteral === true && acceptCommand(command.text, rest);
};

function acceptCommand(command: string, words: readonly ShellWord[]): boolean {
  // For grep, -O opens a program; for other commands it names a file to read.
  if (command === "grep") return plain(words) && without({ short: "O" })(words);
  if (command === "branch" || command === "tag") return acceptRefs(words);
  if (always.includes(command)) return plain(words);
  const list = lists[command];
  if (list === undefined || !plain(words)) return false;
  const [first] = words;
  return first === undefined ? listsAlone.has(command) : list.test(first.text);
}

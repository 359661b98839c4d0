import type { CliOptions } from "./cli-options.ts";
import { type HostOptionTable, hostOptions } from "./host-options.ts";
import { keyOf, type ListValues } from "./option-row.ts";
import { readPolicyFile } from "./read-policy-file.ts";
import { type Token, tokensOf } from "./tokens.ts";
import { checkedValue, refuse, refuseShort } from "./values.ts";

/**
 * Reads the command line of a host. Unknown long options are kept: extensions may declare them.
 *
 * @throws {ProtocolError} `invalid_option` naming the option
 */
export function readHostLine(words: readonly string[]): CliOptions {
  const options: CliOptions = {
    ...emptyLists(),
    policy: [],
    unknown: new Map(),
    borrowed: [],
    files: [],
    messages: [],
  };
  const queue = tokensOf(words, hostOptions);
  for (let token = queue.shift(); token !== undefined; token = queue.shift()) {
    if (token.kind === "option") readOption(options, token, queue);
    else readWord(options, token);
  }
  options.policy = options.policyFiles.map(readPolicyFile);
  return options;
}

function emptyLists(): ListValues<HostOptionTable> {
  const lists = Object.entries(hostOptions).filter(([, { kind }]) => kind === "list");
  return Object.fromEntries(lists.map(([name, row]) => [keyOf(name, row), []])) as never;
}

type OptionToken = Extract<Token, { kind: "option" }>;

function readWord(options: CliOptions, { word, isBehind }: Extract<Token, { kind: "word" }>): void {
  if (isBehind) options.messages.push(word);
  else if (/^@./s.test(word)) options.files.push(word.slice(1));
  else {
    options.firstWord ??= word;
    options.messages.push(word);
  }
}

function readOption(options: CliOptions, token: OptionToken, queue: Token[]): void {
  const { name, shown, isInline } = token;
  const row = Object.hasOwn(hostOptions, name) ? hostOptions[name] : undefined;
  if (row === undefined) {
    if (!shown.startsWith("--")) refuseShort(shown, hostOptions);
    options.unknown.set(name, token.value ?? borrow(options, name, queue) ?? true);
    return;
  }
  const { inlineKey } = row;
  if (row.kind === "switch" && isInline && inlineKey !== undefined) {
    if (token.value === "") refuse(shown, "it needs a file after the equals sign");
    Reflect.set(options, inlineKey, token.value);
    return;
  }
  const value = row.kind === "optional" ? (token.value ?? takeWord(queue) ?? "") : token.value;
  const checked = checkedValue(row, { shown, value, isInline }, hostOptions);
  const key = keyOf(name, row);
  if (row.kind === "list") Reflect.get(options, key).push(checked);
  else Reflect.set(options, key, checked);
}

/** Takes the next word unless it is a file or comes after `--`. */
function takeWord(queue: Token[]): string | undefined {
  const [next] = queue;
  if (next?.kind !== "word" || next.isBehind || /^[-@]/.test(next.word)) return undefined;
  queue.shift();
  return next.word;
}

function borrow(options: CliOptions, flag: string, queue: Token[]): string | undefined {
  const word = takeWord(queue);
  if (word === undefined) return undefined;
  options.borrowed = [...options.borrowed, { flag, word, at: options.messages.length }];
  return word;
}

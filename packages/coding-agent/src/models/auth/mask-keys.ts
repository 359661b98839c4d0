import { statSync } from "node:fs";
import { join } from "node:path";
import { keyFileNames } from "../../base/files/key-files.ts";
import { isJsonObject } from "../../base/files/read-json.ts";
import { readTextFileNow } from "../../base/files/read-text.ts";
import { keyMark, OutputMask } from "../../processes/output-mask.ts";
import { type Environment, keyVariableNames } from "./environment-keys.ts";

/** Shorter values are words that occur anywhere. */
const MIN_LENGTH = 12;

/** What a {@link createKeyMask} knows keys from. */
export interface KeySources {
  readonly environment: Environment;
  readonly agentDirectory: string;
  /** Keys that requests have used. */
  readonly used: () => Iterable<string>;
}

/** Replaces the known keys in every text of a value; the same value when there are none in it. */
export type KeyMask = <Value>(value: Value) => Value;

/** Makes a mask; keys are looked up at each use, because logins renew them. */
export function createKeyMask(sources: KeySources): KeyMask {
  const files = new KeyFiles(sources.agentDirectory);
  return (value) => {
    const keys = keysOf(sources, files);
    return keys.length === 0 ? value : (masked(value, keys) as typeof value);
  };
}

/** A mask for one output, with the keys that are known at its beginning. */
export function createOutputMask(sources: KeySources): OutputMask {
  return new OutputMask(keysOf(sources, new KeyFiles(sources.agentDirectory)));
}

/**
 * Variables that hold keys: those of vendors, and those that models.json and auth.json name. Their
 * commands (`!…`) use variables of any kind, so these do not count.
 */
export function keyVariablesOf(agentDirectory: string): string[] {
  const names = new Set(keyVariableNames());
  for (const name of ["models.json", "auth.json"]) {
    const file = readTextFileNow(join(agentDirectory, name));
    if (file.kind !== "text") continue;
    for (const [, text = ""] of file.text.matchAll(/"((?:[^"\\]|\\.)*)"/g)) {
      if (text.startsWith("!")) continue;
      for (const [, variable = ""] of text.matchAll(/\$\{?([A-Za-z_]\w*)/g)) names.add(variable);
      if (/^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/.test(text)) names.add(text);
    }
  }
  // Programs need these, and they hold no secret.
  for (const common of ["PATH", "HOME", "USER", "SHELL", "TMPDIR", "PWD", "LANG"]) {
    names.delete(common);
  }
  return [...names];
}

function keysOf({ environment, used }: KeySources, files: KeyFiles): string[] {
  const { variables, secrets } = files.read();
  const keys = new Set([...used(), ...secrets]);
  for (const name of variables) {
    const value = environment[name];
    if (value !== undefined) keys.add(value);
  }
  // A key that contains another goes first, or its rest stays.
  return [...keys]
    .filter((key) => key.length >= MIN_LENGTH)
    .sort((left, right) => right.length - left.length);
}

/** A file that was written less than this ago may have been written again in the same tick of its clock. */
const RECENT_MS = 2_000;

/** What the files of a directory say of keys; they are read when they have changed (row "`read` turn: CPU"). */
class KeyFiles {
  readonly #directory: string;
  readonly #marks = new Map<string, string>();
  #found:
    | { readonly variables: readonly string[]; readonly secrets: ReadonlySet<string> }
    | undefined;

  constructor(directory: string) {
    this.#directory = directory;
  }

  read(): { readonly variables: readonly string[]; readonly secrets: ReadonlySet<string> } {
    // Each file is looked at, also when the first has changed.
    const changed = ["models.json", ...keyFileNames].filter((name) => this.#hasChanged(name));
    if (changed.length === 0 && this.#found !== undefined) return this.#found;
    const secrets = new Set<string>();
    for (const name of keyFileNames) {
      const file = readTextFileNow(join(this.#directory, name));
      if (file.kind === "text") addSecrets(name, file.text, secrets);
    }
    this.#found = { variables: keyVariablesOf(this.#directory), secrets };
    return this.#found;
  }

  #hasChanged(name: string): boolean {
    const mark = markOf(join(this.#directory, name));
    if (mark !== undefined && mark === this.#marks.get(name)) return false;
    if (mark === undefined) this.#marks.delete(name);
    else this.#marks.set(name, mark);
    return true;
  }
}

/** Changes with the content of a file; undefined while that cannot be told. */
function markOf(path: string): string | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) return "missing";
    const { ino, size, mtimeMs, ctimeMs } = found;
    const isRecent = Date.now() - Math.max(mtimeMs, ctimeMs) < RECENT_MS;
    return isRecent ? undefined : `${ino} ${size} ${mtimeMs} ${ctimeMs}`;
  } catch {
    return undefined;
  }
}

const secretMembers =
  /^(?:key|access|refresh|token|secret|(?:access|refresh|id)_?token|client_?secret)$/i;

function addSecrets(name: string, text: string, keys: Set<string>): void {
  if (!name.endsWith(".json")) {
    keys.add(text.trim());
    return;
  }
  const visit = (value: unknown, member: string): void => {
    if (typeof value === "string" && secretMembers.test(member) && !/^[!$]/.test(value)) {
      keys.add(value);
    } else if (typeof value === "object" && value !== null) {
      for (const [key, child] of Object.entries(value)) visit(child, key);
    }
  };
  try {
    visit(JSON.parse(text), "");
  } catch {
    // A file that is not valid JSON gives no keys to requests either.
  }
}

function masked(value: unknown, keys: readonly string[]): unknown {
  if (typeof value === "string") {
    return keys.reduce(
      (text, key) => (text.includes(key) ? text.replaceAll(key, keyMark) : text),
      value,
    );
  }
  if (Array.isArray(value)) {
    const items = value.map((item) => masked(item, keys));
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  // The data of an image contains no text.
  if (!isJsonObject(value) || value.type === "image") return value;
  const entries = Object.entries(value).map(([name, item]) => [name, masked(item, keys)] as const);
  return entries.some(([name, item]) => item !== value[name]) ? Object.fromEntries(entries) : value;
}

import { join } from "node:path";
import { DerivedText } from "../../base/files/derived-text.ts";
import { keyFileNames } from "../../base/files/key-files.ts";
import { keyVariableNames } from "./environment-keys.ts";

/** Programs need these, and they hold no secret. */
const common = new Set(["PATH", "HOME", "USER", "SHELL", "TMPDIR", "PWD", "LANG"]);

/**
 * What the files of an agent directory say about keys. Each command and each result asks, so files
 * are read again only when they have changed (rows `bash-command` and `read-turn-system-calls`).
 */
export class KnownKeys {
  readonly #variables: readonly DerivedText<readonly string[]>[];
  readonly #secrets: readonly DerivedText<readonly string[]>[];

  constructor(agentDirectory: string) {
    this.#variables = ["models.json", "auth.json"].map(
      (name) => new DerivedText(join(agentDirectory, name), [], variablesIn),
    );
    this.#secrets = keyFileNames.map(
      (name) => new DerivedText(join(agentDirectory, name), [], (text) => secretsIn(name, text)),
    );
  }

  /**
   * Variables that hold keys: those of vendors, and those that models.json and auth.json name. Their
   * commands (`!…`) use variables of any kind, so these do not count.
   */
  variables(): string[] {
    const named = this.#variables.flatMap(({ value }) => value);
    return [...new Set([...keyVariableNames(), ...named])].filter((name) => !common.has(name));
  }

  /** The keys and tokens in the files. */
  secrets(): string[] {
    return this.#secrets.flatMap(({ value }) => value);
  }
}

function variablesIn(json: string): string[] {
  const names: string[] = [];
  for (const [, text = ""] of json.matchAll(/"((?:[^"\\]|\\.)*)"/g)) {
    if (text.startsWith("!")) continue;
    for (const [, variable = ""] of text.matchAll(/\$\{?([A-Za-z_]\w*)/g)) names.push(variable);
    if (/^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/.test(text)) names.push(text);
  }
  return names;
}

const secretMembers =
  /^(?:key|access|refresh|token|secret|(?:access|refresh|id)_?token|client_?secret)$/i;

function secretsIn(name: string, text: string): string[] {
  if (!name.endsWith(".json")) return [text.trim()];
  const secrets: string[] = [];
  const visit = (value: unknown, member: string): void => {
    if (typeof value === "string" && secretMembers.test(member) && !/^[!$]/.test(value)) {
      secrets.push(value);
    } else if (typeof value === "object" && value !== null) {
      for (const [key, child] of Object.entries(value)) visit(child, key);
    }
  };
  try {
    visit(JSON.parse(text), "");
  } catch {
    // A file that is not valid JSON gives no keys to requests either.
  }
  return secrets;
}

import { join } from "node:path";
import { DerivedText } from "../../base/files/derived-text.ts";
import { FolderFiles } from "../../base/files/folder-files.ts";
import { keyFileNames } from "../../base/files/key-files.ts";
import { keyVariableNames } from "./environment-keys.ts";

/** Programs need these, and they hold no secret. */
const common = new Set(["PATH", "HOME", "USER", "SHELL", "TMPDIR", "PWD", "LANG"]);

/** What files say about keys. */
interface Said {
  /** Names of variables that hold keys. */
  readonly variables: readonly string[];
  /** Keys and tokens. */
  readonly secrets: readonly string[];
}

const names = ["models.json", ...keyFileNames];
const nothing: Said = { variables: [], secrets: [] };

/**
 * What the files of an agent directory say about keys. Each command and each result asks, so files
 * are read again only when they have changed (rows `bash-command` and `read-turn-system-calls`).
 */
export class KnownKeys {
  readonly #files: FolderFiles;
  readonly #texts: readonly DerivedText<Said>[];

  constructor(agentDirectory: string) {
    this.#files = new FolderFiles(agentDirectory, names);
    this.#texts = names.map(
      (name) =>
        new DerivedText(join(agentDirectory, name), nothing, (text) => readFrom(name, text)),
    );
  }

  /**
   * The keys and tokens in the files, and the variables that hold keys: those of vendors, and those that
   * models.json and auth.json name. Their commands (`!…`) use variables of any kind, so these do not
   * count.
   */
  read(): { readonly variables: readonly string[]; readonly secrets: readonly string[] } {
    const found = this.#files.stats();
    const said = this.#texts.map((text, at) => text.of(found[at]));
    const variables = [...keyVariableNames(), ...said.flatMap((each) => each.variables)];
    return {
      variables: [...new Set(variables)].filter((name) => !common.has(name)),
      secrets: said.flatMap((each) => each.secrets),
    };
  }
}

function readFrom(name: string, text: string): Said {
  return {
    variables: name === "models.json" || name === "auth.json" ? variablesIn(text) : [],
    secrets: name === "models.json" ? [] : secretsIn(name, text),
  };
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
  /^(?:key|access|refresh|token|secret|(?:access|refresh|id)_?token|client_?secret|[A-Z0-9_]+_(?:KEY|SECRET|TOKEN|TOKEN_BEDROCK))$/i;

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

import { join } from "node:path";
import { DerivedText } from "../base/files/derived-text.ts";
import { FolderFiles } from "../base/files/folder-files.ts";
import { keyFileNames } from "../base/files/key-files.ts";
import { keyVariableNames } from "./environment-keys.ts";
import { type JsonText, textsInJson } from "./json-members.ts";

/** Variables that programs need and that hold no secret. */
const common = new Set(["PATH", "HOME", "USER", "SHELL", "TMPDIR", "PWD", "LANG"]);

interface Said {
  /** Names of variables that hold keys of providers. */
  readonly variables: readonly string[];
  /** Names of variables for MCP servers. */
  readonly namedVariables: readonly string[];
  readonly secrets: readonly string[];
}

const nothing: Said = { variables: [], namedVariables: [], secrets: [] };

/**
 * The keys in the files of an agent directory. They are looked up for each command and each result,
 * so files are read again only after a change (rows `bash-command` and `read-turn-system-calls`).
 */
export class KnownKeys {
  readonly #files: FolderFiles;
  readonly #texts: readonly DerivedText<Said>[];
  /** The result of the last call, and what each file said then. */
  #last: { readonly of: readonly Said[]; readonly all: Said } | undefined;

  constructor(agentDirectory: string) {
    this.#files = new FolderFiles(agentDirectory, keyFileNames);
    this.#texts = keyFileNames.map(
      (name) =>
        new DerivedText(join(agentDirectory, name), nothing, (text) => readFrom(name, text)),
    );
  }

  /**
   * The keys and tokens in the files, and the names of variables that hold keys: those of vendors, and
   * those that models.json and auth.json name. Variables that mcp.json names are in `namedVariables` and
   * may hold anything. Variables in commands (`!…`) do not count, because these may use any variable.
   */
  read(): Said {
    const found = this.#files.stats();
    const said = this.#texts.map((text, at) => text.of(found[at]));
    const last = this.#last;
    if (last !== undefined && said.every((each, at) => each === last.of[at])) return last.all;
    const all = together(said);
    this.#last = { of: said, all };
    return all;
  }
}

function together(said: readonly Said[]): Said {
  const variables = [...keyVariableNames(), ...said.flatMap((each) => each.variables)];
  const ofServers = said.flatMap((each) => each.namedVariables);
  return {
    variables: [...new Set(variables)].filter((name) => !common.has(name)),
    namedVariables: [...new Set(ofServers)].filter((name) => !common.has(name)),
    secrets: said.flatMap((each) => each.secrets),
  };
}

function readFrom(name: string, text: string): Said {
  if (!name.endsWith(".json")) return { ...nothing, secrets: [text.trim()] };
  const texts = textsInJson(text);
  return {
    variables: name === "models.json" || name === "auth.json" ? variablesIn(texts) : [],
    namedVariables: name === "mcp.json" ? variablesOfServers(texts) : [],
    secrets: secretsIn(texts),
  };
}

function variablesIn(texts: readonly JsonText[]): string[] {
  const named = texts.filter(({ name, value }) => {
    const isKey = name === "apiKey" || name === "key";
    return /^[A-Z][A-Z0-9_]{2,}$/.test(value) || (isKey && /^[A-Za-z_]\w*$/.test(value));
  });
  return [...expandedIn(texts), ...named.map(({ value }) => value)];
}

/** Names in `$NAME` and `${NAME}`. */
function expandedIn(texts: readonly JsonText[]): string[] {
  return texts.flatMap(({ value }) => {
    if (value.startsWith("!")) return [];
    return [...value.matchAll(/\$\{?([A-Za-z_]\w*)/g)].map(([, name = ""]) => name);
  });
}

/** Without the variables that name programs and folders, which commands need. */
function variablesOfServers(texts: readonly JsonText[]): string[] {
  return expandedIn(texts).filter((name) => !/(?:^|_)(?:HOME|DIR|PATH|ROOT)$/.test(name));
}

const secretMembers =
  /^(?:authorization|(?:x-)?(?:api-?key|auth-token)|key|access|refresh|token|secret|(?:access|refresh|id)_?token|client_?secret|[A-Z0-9_]+_(?:KEY|SECRET|TOKEN|TOKEN_BEDROCK))$/i;
/** Headers whose values are everyday words, not keys. */
export const plainHeaders =
  /^(?:accept|content|sec|mcp)-|^(?:accept|user-agent|origin|referer|http-referer|x-title)$/i;

function secretsIn(texts: readonly JsonText[]): string[] {
  return texts.flatMap(({ name, parent, value }) => {
    const isHeader = parent === "headers" && !plainHeaders.test(name);
    if (!isHeader && !secretMembers.test(name)) return [];
    if (/^[!$]|\$\{/.test(value) || /^[A-Z][A-Z0-9_]*$/.test(value)) return [];
    // A header value begins with the kind of token; the token alone is a secret, too.
    return [value, ...value.split(" ").slice(1)];
  });
}

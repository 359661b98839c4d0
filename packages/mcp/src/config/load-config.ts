import { isJsonObject, type JsonObject } from "@tau-agent/rpc-protocol/plain";
import { type JsonFile, readJsonFile } from "@tau-agent/system";
import { variablesIn } from "./expand.ts";
import { type McpPlaces, trustedFiles, userFile } from "./places.ts";
import { isOverride, readEntry } from "./read-entry.ts";
import type { McpEntry, McpServerConfig, McpSource } from "./server-entry.ts";

export interface McpConfig {
  readonly servers: readonly McpServerConfig[];
  /** Each error begins with the path of its file. */
  readonly errors: readonly string[];
}

interface Reading {
  readonly servers: Map<string, McpServerConfig>;
  readonly errors: string[];
}

/**
 * Reads all files; later ones replace entries with the same name.
 *
 * @throws {WorkspaceError} when the project's workspace cannot be reached
 */
export async function loadMcpConfig(places: McpPlaces): Promise<McpConfig> {
  const reading: Reading = { servers: new Map(), errors: [] };
  const own = await readJsonFile(userFile(places.agentDirectory));
  addFile(own, { source: "user", forbidden: () => [] }, reading);
  for (const file of await Promise.all(trustedFiles(places).map(({ read }) => read()))) {
    addFile(file, { source: "project", forbidden: places.keyVariables }, reading);
  }
  return { servers: [...reading.servers.values()], errors: reading.errors };
}

interface FileKind {
  readonly source: McpSource;
  readonly forbidden: () => Iterable<string>;
}

function addFile(file: JsonFile, kind: FileKind, reading: Reading): void {
  const { path } = file;
  if (file.kind === "unreadable") reading.errors.push(file.diagnostic.message);
  if (file.kind !== "object") return;
  const { mcpServers = {} } = file.value;
  if (!isJsonObject(mcpServers)) {
    reading.errors.push(`${path}: mcpServers must be an object`);
    return;
  }
  for (const [name, value] of Object.entries(mcpServers)) {
    const problem = readServer({ name, value, kind }, reading.servers);
    if (problem !== undefined) reading.errors.push(`${path}: server "${name}": ${problem}`);
  }
}

interface Given {
  readonly name: string;
  readonly value: unknown;
  readonly kind: FileKind;
}

function readServer(given: Given, servers: Map<string, McpServerConfig>): string | undefined {
  const { name, value, kind } = given;
  const { source } = kind;
  if (source === "project" && isOverride(value)) return override(name, value, servers);
  const read = readEntry(name, value, source);
  if ("problem" in read) return read.problem;
  const key = forbiddenVariable(read.entry, kind);
  if (key !== undefined) return `it names ${key}, a key that servers of a project do not get`;
  servers.set(name, { name, source, entry: read.entry });
  return undefined;
}

const overridable: ReadonlySet<string> = new Set(["enabled", "exposure", "toolExposure"]);

function override(
  name: string,
  value: JsonObject,
  servers: Map<string, McpServerConfig>,
): string | undefined {
  const base = servers.get(name);
  if (base === undefined) return "command or url is missing, and there is no server to override";
  const extra = Object.keys(value).find((member) => !overridable.has(member));
  if (extra !== undefined) {
    return `${extra} cannot be overridden, only ${[...overridable].join(", ")}`;
  }
  // Checked as part of an entry, of which nothing else is kept.
  const read = readEntry(name, { ...value, command: "-" }, "project");
  if ("problem" in read) return read.problem;
  const { isEnabled, exposure, toolExposure } = read.entry;
  const entry = {
    ...base.entry,
    ...(value.enabled === undefined ? {} : { isEnabled }),
    ...(value.exposure === undefined ? {} : { exposure }),
    ...(value.toolExposure === undefined ? {} : { toolExposure }),
  };
  servers.set(name, { ...base, entry });
  return undefined;
}

function forbiddenVariable(entry: McpEntry, { forbidden }: FileKind): string | undefined {
  const names = textsIn(entry).flatMap(variablesIn);
  if (names.length === 0) return undefined;
  const keys = new Set(forbidden());
  return names.find((name) => keys.has(name));
}

function textsIn(entry: McpEntry): string[] {
  if (entry.transport === "stdio") {
    const { command, args, env, cwd = "" } = entry;
    return [command, ...args, ...Object.values(env), cwd];
  }
  return [entry.url, ...Object.values(entry.headers), entry.oauth.clientSecret ?? ""];
}

import nodePath, { posix, win32 } from "node:path";
import { plainHeaders, processEnvironment, type ToolEnvironment } from "@tau-agent/system";
import { expandHome, expandText, variablesIn } from "../config/expand.ts";
import { isWebAddress } from "../config/read-entry.ts";
import type { HttpEntry, McpServerConfig, StdioEntry } from "../config/server-entry.ts";

type ValueCommand = (
  command: string,
  environment: Readonly<Record<string, string | undefined>>,
) => Promise<string>;

/** How long a command that prints a value may take. */
const VALUE_TIMEOUT_MS = 10_000;

/** A configuration whose variables cannot be read; trying again does not help. */
export class ConfigurationError extends Error {
  override readonly name = "ConfigurationError";
}

export interface EntryContext {
  readonly environment: ToolEnvironment;
  /** The project's workspace, if it is not this machine; servers in its files start there. */
  readonly project?: ProjectPlace | undefined;
  readonly runCommand: ValueCommand;
  /** Receives values that must not be shown: those of headers, and of variables that contain keys. */
  readonly noteSecret: (value: string) => void;
}

/** Where the programs of a project on another machine run. */
export type ProjectPlace = Pick<
  ToolEnvironment,
  "workspace" | "cwd" | "homeDirectory" | "isWindows"
>;

const secretVariable = /key|token|secret|passw|auth|credential/i;

/** A header value begins with the kind of token, but servers may repeat the token alone, too. */
function noteHeaders(headers: Readonly<Record<string, string>>, { noteSecret }: EntryContext) {
  for (const [name, value] of Object.entries(headers)) {
    if (plainHeaders.test(name)) continue;
    for (const part of [value, ...value.split(" ").slice(1)]) noteSecret(part);
  }
  return headers;
}

function noteVariables(variables: Readonly<Record<string, string>>, { noteSecret }: EntryContext) {
  for (const [name, value] of Object.entries(variables)) {
    if (secretVariable.test(name)) noteSecret(value);
  }
  return variables;
}

export async function resolveProgram(config: StdioConfig, context: EntryContext) {
  const reader = readerFor(config.source, context);
  const { environment } = context;
  return {
    ...placed(config.entry, reader, { ...placeOf(environment), path: nodePath }),
    variables: {
      // Never with provider keys, whatever shell commands inherit.
      ...processEnvironment({ ...withoutGetters(environment), inheritKeys: false }),
      ...noteVariables(await reader.values("env", config.entry.env), context),
    },
  };
}

/**
 * Resolves an entry for a program in the project's workspace: its variables and commands are those of that workspace.
 */
export async function resolveProgramThere(
  { source, entry }: StdioConfig,
  project: ProjectPlace,
  context: EntryContext,
) {
  const { workspace, cwd, isWindows = false } = project;
  const { command, args, env, cwd: folder = "" } = entry;
  const named = [command, ...args, folder, ...Object.values(env)].flatMap(variablesIn);
  const environment = await variablesThere(project, new Set(named));
  const runCommand = (line: string) => outputThere(workspace, { command: line, cwd });
  const reader = readerFor(source, {
    ...context,
    environment: { ...withoutGetters(context.environment), environment },
    runCommand,
  });
  return {
    ...placed(entry, reader, { ...placeOf(project), path: isWindows ? win32 : posix }),
    variables: noteVariables(await reader.values("env", env), context),
  };
}

type StdioConfig = McpServerConfig & { readonly entry: StdioEntry };

const placeOf = ({ cwd, homeDirectory }: Pick<ToolEnvironment, "cwd" | "homeDirectory">) => ({
  cwd,
  homeDirectory,
});

interface Machine extends Pick<ToolEnvironment, "cwd" | "homeDirectory"> {
  readonly path: nodePath.PlatformPath;
}

function placed(
  entry: StdioEntry,
  reader: ReturnType<typeof readerFor>,
  { cwd, homeDirectory, path }: Machine,
) {
  const pathIn = (member: string, text: string) =>
    expandHome(reader.text(member, text), homeDirectory);
  const folder = entry.cwd === undefined ? cwd : pathIn("cwd", entry.cwd);
  return {
    file: pathIn("command", entry.command),
    args: entry.args.map((arg, index) => pathIn(`args[${index}]`, arg)),
    cwd: path.isAbsolute(folder) ? folder : path.join(cwd, folder),
  };
}

/** The values of variables in the workspace; unset ones are left out. */
async function variablesThere(
  { workspace, cwd }: ProjectPlace,
  names: ReadonlySet<string>,
): Promise<Record<string, string>> {
  const asked = [...names].map(async (name) => {
    const command = ["printenv", name];
    const printed = await outputThere(workspace, { command, cwd }).catch(() => undefined);
    return printed === undefined ? [] : [[name, printed.replace(/\r?\n$/, "")] as const];
  });
  return Object.fromEntries((await Promise.all(asked)).flat());
}

async function outputThere(
  workspace: ToolEnvironment["workspace"],
  { command, cwd }: { readonly command: string | readonly string[]; readonly cwd: string },
): Promise<string> {
  const chunks: Uint8Array[] = [];
  const { done } = await workspace.spawn({
    ...{ command, cwd, timeoutMs: VALUE_TIMEOUT_MS },
    onOutput: (bytes, stream) => {
      if (stream === "stdout") chunks.push(bytes);
    },
  });
  const { exitCode } = await done;
  if (exitCode === 0) return Buffer.concat(chunks).toString("utf8");
  throw new Error(
    `the command ended with ${exitCode === null ? "a signal" : `exit code ${exitCode}`}`,
  );
}

export async function resolveAddress(
  { source, entry }: McpServerConfig & { readonly entry: HttpEntry },
  context: EntryContext,
) {
  const reader = readerFor(source, context);
  const url = reader.text("url", entry.url);
  if (!isWebAddress(url)) throw new ConfigurationError("url must be an http or https address");
  const { clientSecret } = entry.oauth;
  return {
    url: new URL(url),
    headers: noteHeaders(await reader.values("headers", entry.headers), context),
    oauth: {
      ...entry.oauth,
      clientSecret:
        clientSecret === undefined
          ? undefined
          : await reader.value("oauth.clientSecret", clientSecret),
    },
  };
}

/** A spread freezes values that are looked up at each use, which is fine because only the copy is used here. */
function withoutGetters(environment: ToolEnvironment): ToolEnvironment {
  const { environment: variables, keyVariables } = environment;
  return { ...environment, environment: variables, keyVariables, namedVariables: [] };
}

function readerFor(source: string, { environment, runCommand }: EntryContext) {
  const keys = new Set(environment.keyVariables ?? []);
  const isOfProject = source === "project";
  const forbidden = isOfProject ? keys : undefined;
  const variables = Object.fromEntries(
    Object.entries(environment.environment).filter(([name]) => !(isOfProject && keys.has(name))),
  );
  const text = (member: string, value: string): string => {
    const expanded = expandText(value, { environment: environment.environment, forbidden });
    if ("value" in expanded) return expanded.value;
    throw new ConfigurationError(`${member}: ${expanded.reason}`);
  };
  const value = async (member: string, given: string): Promise<string> => {
    if (!given.startsWith("!")) return text(member, given);
    try {
      return (await runCommand(given.slice(1), variables)).trim();
    } catch (error) {
      throw new ConfigurationError(`${member}: ${(error as Error).message}`, { cause: error });
    }
  };
  const values = async (member: string, given: Readonly<Record<string, string>>) => {
    const entries = Object.entries(given).map(
      async ([name, raw]) => [name, await value(`${member}.${name}`, raw)] as const,
    );
    return Object.fromEntries(await Promise.all(entries));
  };
  return { text, value, values };
}

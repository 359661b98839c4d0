import { isAbsolute, join } from "node:path";
import { plainHeaders, processEnvironment, type ToolEnvironment } from "@tau-agent/system";
import { expandHome, expandText } from "../config/expand.ts";
import { isWebAddress } from "../config/read-entry.ts";
import type { HttpEntry, McpServerConfig, StdioEntry } from "../config/server-entry.ts";

type ValueCommand = (
  command: string,
  environment: Readonly<Record<string, string | undefined>>,
) => Promise<string>;

/** A configuration whose variables cannot be read; trying again does not help. */
export class ConfigurationError extends Error {
  override readonly name = "ConfigurationError";
}

export interface EntryContext {
  readonly environment: ToolEnvironment;
  readonly runCommand: ValueCommand;
  /** Receives what must not be shown: values of headers and of variables that hold keys. */
  readonly noteSecret: (value: string) => void;
}

const secretVariable = /key|token|secret|passw|auth|credential/i;

/** A header says what kind of token it has; servers repeat the token without that, too. */
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

export async function resolveProgram(
  { source, entry }: McpServerConfig & { readonly entry: StdioEntry },
  context: EntryContext,
) {
  const reader = readerFor(source, context);
  const { homeDirectory, cwd } = context.environment;
  const path = (member: string, text: string) =>
    expandHome(reader.text(member, text), homeDirectory);
  const folder = entry.cwd === undefined ? cwd : path("cwd", entry.cwd);
  return {
    file: path("command", entry.command),
    args: entry.args.map((arg, index) => path(`args[${index}]`, arg)),
    cwd: isAbsolute(folder) ? folder : join(cwd, folder),
    variables: {
      // Never with provider keys, whatever commands of the shell inherit.
      ...processEnvironment({ ...withoutGetters(context.environment), inheritKeys: false }),
      ...noteVariables(await reader.values("env", entry.env), context),
    },
  };
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

/** A spread would freeze what is looked up at each use, but only the copy is used here. */
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

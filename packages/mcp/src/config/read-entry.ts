import { isJsonObject, type JsonObject } from "@tau-agent/rpc-protocol/plain";
import { MAX_TIMER_MS } from "@tau-agent/system";
import {
  EntryProblem,
  flagOf,
  objectOf,
  textMapOf,
  textOf,
  textsOf,
  wordOf,
} from "./read-members.ts";
import { readOAuthEntry } from "./read-oauth-entry.ts";
import type { HttpEntry, McpEntry, McpExposure, McpSource, StdioEntry } from "./server-entry.ts";

const DEFAULT_TIMEOUT_S = 60;
/** Letters, digits, `_` and `-`, as in the files of other hosts. */
const fileName = /^[A-Za-z0-9_-]{1,128}$/;
/** Editors may use any name for their servers. */
const sessionName = /^[^\p{C}\p{Zl}\p{Zp}]{1,128}$/u;

const exposures: Readonly<Record<string, McpExposure>> = {
  direct: "direct",
  deferred: "deferred",
  hidden: "hidden",
  codemode: "deferred",
  "codemode-deferred": "deferred",
};

export type ReadEntry = { readonly entry: McpEntry } | { readonly problem: string };

/** Whether an entry only changes how another one is used. */
export function isOverride(value: unknown): value is JsonObject {
  if (!isJsonObject(value)) return false;
  return ["command", "url", "type"].every((member) => value[member] === undefined);
}

export function readEntry(name: string, value: unknown, source: McpSource): ReadEntry {
  try {
    const isOfFile = source === "user" || source === "project";
    if (!(isOfFile ? fileName : sessionName).test(name)) {
      throw new EntryProblem("a name takes letters, digits, _ and - only");
    }
    if (!isJsonObject(value)) throw new EntryProblem("the entry must be an object");
    return { entry: entryOf(value, source) };
  } catch (error) {
    if (!(error instanceof EntryProblem)) throw error;
    return { problem: error.message };
  }
}

function entryOf(value: JsonObject, source: McpSource): McpEntry {
  const type = wordOf(value, "type", ["stdio", "http", "streamable-http", "sse"]);
  const command = textOf(value, "command");
  const url = textOf(value, "url");
  if (command !== undefined && url !== undefined) {
    throw new EntryProblem("command and url rule each other out");
  }
  const base = baseOf(value, source);
  if (command !== undefined) {
    if (type !== undefined && type !== "stdio") {
      throw new EntryProblem(`type ${type} takes a url, not a command`);
    }
    return { ...base, ...stdioOf(value, command) };
  }
  if (url === undefined) {
    throw new EntryProblem(type === "stdio" ? "command is missing" : "command or url is missing");
  }
  if (type === "stdio") throw new EntryProblem("type stdio takes a command, not a url");
  return { ...base, ...httpOf(value, url, type === "sse" ? "sse" : "http") };
}

function stdioOf(value: JsonObject, command: string) {
  return {
    transport: "stdio",
    command,
    args: textsOf(value, "args"),
    env: textMapOf(value, "env"),
    cwd: textOf(value, "cwd"),
    isStateless: flagOf(value, "stateless", false),
  } satisfies Partial<StdioEntry>;
}

function httpOf(value: JsonObject, url: string, transport: "http" | "sse") {
  // A variable may contain the whole address, which is then checked once it is known.
  if (!url.includes("${") && !isWebAddress(url)) {
    throw new EntryProblem("url must be an http or https address");
  }
  return {
    transport,
    url,
    headers: textMapOf(value, "headers"),
    oauth: readOAuthEntry(objectOf(value, "oauth")),
  } satisfies Partial<HttpEntry>;
}

export function isWebAddress(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}

function baseOf(value: JsonObject, source: McpSource) {
  const { timeout = DEFAULT_TIMEOUT_S } = value;
  if (typeof timeout !== "number" || !(timeout > 0)) {
    throw new EntryProblem("timeout must be a number of seconds above 0");
  }
  return {
    timeoutMs: Math.min(timeout * 1000, MAX_TIMER_MS),
    isEnabled: flagOf(value, "enabled", true),
    exposure: exposureOf(value.exposure, "exposure"),
    toolExposure: Object.entries(objectOf(value, "toolExposure")).map(
      ([tool, exposure]) =>
        [tool, exposureOf(exposure, `toolExposure.${tool}`) ?? "direct"] as const,
    ),
    description: textOf(value, "description"),
    allowsSampling: flagOf(value, "sampling", false),
    trustsHints: flagOf(value, "trustHints", false) && source === "user",
  };
}

function exposureOf(value: unknown, member: string): McpExposure | undefined {
  if (value === undefined) return undefined;
  const exposure = typeof value === "string" ? exposures[value] : undefined;
  if (exposure !== undefined) return exposure;
  throw new EntryProblem(`${member} must be one of direct, deferred, hidden`);
}

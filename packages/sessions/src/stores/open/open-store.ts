import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { errorMessage, SessionError } from "@tau-agent/rpc-protocol/plain";
import type { SessionStore } from "../../log/store/session-store.ts";

/** The packages for URLs, and the function in them that makes a store. */
const redis = { name: "@tau-agent/store-redis", driver: "ioredis", make: "createRedisStore" };
const postgres = { name: "@tau-agent/store-postgres", driver: "pg", make: "createPostgresStore" };
const adapters: Readonly<Record<string, typeof redis>> = {
  "redis:": redis,
  "rediss:": redis,
  "postgres:": postgres,
  "postgresql:": postgres,
};

/**
 * Opens the store that the text of `--store` names: a URL of Redis or PostgreSQL, or a module whose
 * default export makes a store from that text.
 *
 * @param baseDirectory - the folder that relative module paths start from
 * @throws {SessionError} `invalid_option`
 */
export async function openStore(text: string, baseDirectory: string): Promise<SessionStore> {
  const [scheme] = /^[a-z]+:(?=\/\/)/i.exec(text) ?? [];
  const adapter = scheme === undefined ? undefined : adapters[scheme.toLowerCase()];
  if (adapter === undefined) return openModule(text, baseDirectory);
  const { name, driver, make } = adapter;
  const module = await load(name, `run: npm install ${name} ${driver}`);
  return checked(() => (module[make] as (options: object) => SessionStore)({ url: text }));
}

async function openModule(text: string, baseDirectory: string): Promise<SessionStore> {
  const [path = ""] = text.split(/[?#]/, 1);
  const isPath = /^(\.{0,2}[/\\]|[a-z]:[/\\])/i.test(path) || /\.[cm]?[jt]s$/.test(path);
  const isUrl = path.startsWith("file:");
  if (/^[a-z]+:\/\//i.test(path) && !isUrl) {
    throw refused("it must begin with redis:, rediss:, postgres: or postgresql:, or name a module");
  }
  const address = isPath && !isUrl ? pathToFileURL(resolve(baseDirectory, path)).href : path;
  const module = await load(address, "name a module that exists");
  const { default: make } = module;
  if (typeof make !== "function") {
    throw refused("the module's default export must be a function that makes a store");
  }
  const store = await checked(async () => (await make(text)) as SessionStore | undefined);
  if (typeof store?.append !== "function") throw refused("the module did not make a store");
  return store;
}

async function load(address: string, remedy: string): Promise<Record<string, unknown>> {
  try {
    return (await import(address)) as Record<string, unknown>;
  } catch (cause) {
    const reason = `${errorMessage(cause)}; ${remedy}`;
    throw new SessionError("invalid_option", { option: "--store", reason }, { cause });
  }
}

async function checked<T>(make: () => T | Promise<T>): Promise<T> {
  try {
    return await make();
  } catch (cause) {
    throw refused(errorMessage(cause), cause);
  }
}

function refused(reason: string, cause?: unknown): SessionError {
  return new SessionError("invalid_option", { option: "--store", reason }, { cause });
}

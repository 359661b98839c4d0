import type { DialectRules } from "./dialect.ts";
import { pi } from "./pi.ts";

/**
 * Every dialect by the name with which clients choose it; the first is the default. The others are loaded on demand.
 */
const dialects = {
  pi: () => pi,
  "pi-1": async () => (await import("./pi-1.ts")).pi1,
  pisces: async () => (await import("./pisces.ts")).pisces,
  "oh-my-pi": async () => (await import("./oh-my-pi.ts")).ohMyPi,
  "oh-my-pi-18": async () => (await import("./oh-my-pi-18.ts")).ohMyPi18,
  "co-mono": async () => (await import("./co-mono.ts")).coMono,
  "pi-rust": async () => (await import("./pi-rust.ts")).piRust,
};

/** The name of a dialect. */
export type ProtocolName = keyof typeof dialects;

/** A dialect with its name. */
export interface Dialect extends DialectRules {
  readonly name: ProtocolName;
}

/** The names of all dialects; the first is the default. */
export const protocolNames = Object.keys(dialects) as [ProtocolName, ...ProtocolName[]];

/** Whether a dialect has this name. */
export function isProtocolName(name: string): name is ProtocolName {
  return Object.hasOwn(dialects, name);
}

/** Loads the dialect with a name. */
export async function loadDialect(name: ProtocolName): Promise<Dialect> {
  return { name, ...(await dialects[name]()) };
}

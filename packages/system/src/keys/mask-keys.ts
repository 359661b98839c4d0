import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import { keyMark, OutputMask } from "../processes/output-mask.ts";
import type { Environment } from "./environment-keys.ts";
import type { KnownKeys } from "./known-keys.ts";

/** Shorter values are words that occur anywhere. */
const MIN_LENGTH = 12;

export interface KeySources {
  readonly environment: Environment;
  readonly known: KnownKeys;
  readonly used: () => Iterable<string>;
}

/** Replaces known keys in every string of a value; returns the same value if it contains none. */
export type KeyMask = <Value>(value: Value) => Value;

/** Makes a mask; keys are looked up at each use, because logins renew them. */
export function createKeyMask(sources: KeySources): KeyMask {
  return (value) => {
    const keys = keysOf(sources);
    return keys.length === 0 ? value : (masked(value, keys) as typeof value);
  };
}

export function createOutputMask(sources: KeySources): OutputMask {
  return new OutputMask(keysOf(sources));
}

function keysOf({ environment, known, used }: KeySources): string[] {
  const { variables, secrets } = known.read();
  const values = variables.flatMap((name) => environment[name] ?? []);
  const keys = new Set([...used(), ...values, ...secrets]);
  // Longer keys first: if one key contains another, its rest would stay visible.
  return [...keys]
    .filter((key) => key.length >= MIN_LENGTH)
    .sort((left, right) => right.length - left.length);
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
  // Image data contains no text.
  if (!isJsonObject(value) || value.type === "image") return value;
  const entries = Object.entries(value).map(([name, item]) => [name, masked(item, keys)] as const);
  return entries.some(([name, item]) => item !== value[name]) ? Object.fromEntries(entries) : value;
}

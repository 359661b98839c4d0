import { isJsonObject, type JsonObject } from "@tau-agent/rpc-protocol/plain";

/** An entry that cannot be used; the message names the member. */
export class EntryProblem extends Error {
  override readonly name = "EntryProblem";
}

/** A string that must not be empty. */
export function textOf(entry: JsonObject, member: string): string | undefined {
  const { [member]: value } = entry;
  if (value === undefined) return undefined;
  if (typeof value === "string" && value !== "") return value;
  throw new EntryProblem(`${member} must be a text that is not empty`);
}

export function flagOf(entry: JsonObject, member: string, fallback: boolean): boolean {
  const { [member]: value = fallback } = entry;
  if (typeof value === "boolean") return value;
  throw new EntryProblem(`${member} must be true or false`);
}

export function textsOf(entry: JsonObject, member: string): readonly string[] {
  const { [member]: value = [] } = entry;
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value;
  throw new EntryProblem(`${member} must be a list of texts`);
}

export function textMapOf(entry: JsonObject, member: string): Readonly<Record<string, string>> {
  const { [member]: value = {} } = entry;
  const isMap = isJsonObject(value) && Object.values(value).every((t) => typeof t === "string");
  if (isMap) return value as Record<string, string>;
  throw new EntryProblem(`${member} must map names to texts`);
}

export function objectOf(entry: JsonObject, member: string): JsonObject {
  const { [member]: value = {} } = entry;
  if (isJsonObject(value)) return value;
  throw new EntryProblem(`${member} must be an object`);
}

export function wordOf<Word extends string>(
  entry: JsonObject,
  member: string,
  words: readonly Word[],
): Word | undefined {
  const { [member]: value } = entry;
  if (value === undefined) return undefined;
  const found = words.find((word) => word === value);
  if (found !== undefined) return found;
  throw new EntryProblem(`${member} must be one of ${words.join(", ")}`);
}

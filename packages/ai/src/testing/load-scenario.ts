import { readFile } from "node:fs/promises";
import { extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import { ProviderError } from "../errors.ts";
import { faultKinds } from "./fault.ts";
import type { Scenario } from "./scenario.ts";
import { conditionMembers } from "./turn-condition.ts";

/**
 * Loads a scenario file: JSON with a list of turns, or a JavaScript or TypeScript module whose default export
 * is a list or a function.
 *
 * @throws {ProviderError} `invalid_request` if the file cannot be read or contains something else
 */
export async function loadScenario(path: string): Promise<Scenario> {
  const file = resolve(path);
  try {
    const value = extname(file) === ".json" ? await readJson(file) : await importDefault(file);
    return checkScenario(value);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ProviderError({
      code: "invalid_request",
      message: `Cannot use ${file} as a scenario: ${reason}`,
      cause,
    });
  }
}

async function readJson(file: string): Promise<unknown> {
  return JSON.parse(await readFile(file, "utf8"));
}

async function importDefault(file: string): Promise<unknown> {
  const loaded: unknown = await import(pathToFileURL(file).href);
  return typeof loaded === "object" && loaded !== null && "default" in loaded
    ? loaded.default
    : undefined;
}

function checkScenario(value: unknown): Scenario {
  if (isScenarioFunction(value)) return value;
  if (!Array.isArray(value)) throw new TypeError("it holds neither a list of turns nor a function");
  for (const [index, turn] of value.entries()) checkTurn(turn, index + 1);
  return value;
}

function isScenarioFunction(
  value: unknown,
): value is Extract<Scenario, (...args: never) => unknown> {
  return typeof value === "function";
}

function checkTurn(turn: unknown, number: number): void {
  if (typeof turn === "string") return;
  if (!isJsonObject(turn)) throw new TypeError(`turn ${number} is neither a text nor an object`);
  const { content = [], fault, when } = turn;
  if (fault !== undefined && !isFault(fault)) {
    throw new TypeError(
      `turn ${number}: unknown kind of fault; expected one of ${faultKinds.join(", ")}`,
    );
  }
  if (when !== undefined) checkCondition(when, number);
  if (typeof content === "string") return;
  if (!Array.isArray(content)) throw new TypeError(`the content of turn ${number} is no list`);
  for (const block of content) {
    if (typeof block !== "string" && !isBlock(block)) {
      throw new TypeError(`turn ${number} holds a block that is no text, thinking or toolCall`);
    }
  }
}

function checkCondition(when: unknown, number: number): void {
  if (!isJsonObject(when)) throw new TypeError(`the condition of turn ${number} is no object`);
  for (const [member, value] of Object.entries(when)) {
    if (!conditionMembers.includes(member)) {
      throw new TypeError(`turn ${number} has the unknown condition "${member}"`);
    }
    // An invalid pattern throws here, with its own message.
    if (member.endsWith("Matches")) new RegExp(String(value));
  }
}

function isFault(value: unknown): boolean {
  return isJsonObject(value) && typeof value.kind === "string" && faultKinds.includes(value.kind);
}

function isBlock(block: unknown): boolean {
  if (!isJsonObject(block)) return false;
  if (block.type === "text") return typeof block.text === "string";
  if (block.type === "thinking") return typeof block.thinking === "string";
  const hasArguments = isJsonObject(block.arguments) || typeof block.rawArguments === "string";
  return block.type === "toolCall" && typeof block.name === "string" && hasArguments;
}

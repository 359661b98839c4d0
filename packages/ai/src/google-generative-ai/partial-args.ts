import type { PartialArg } from "@google/genai";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import { asText } from "../reply/odd-values.ts";
import { jsonText, mostNested } from "../request/json-text.ts";

const mostItems = 10_000;
const step = /\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]/g;

/**
 * Converts arguments that arrive in pieces, each with the path of its value, to growing JSON text. The cost
 * of a piece depends only on its own length.
 */
export class PartialArgs {
  readonly #root: Record<Step, unknown> = {};
  /** The path of the last written value. */
  #path: readonly Step[] = [];
  /** The open objects and lists, one for each step of the path. */
  #open: readonly unknown[] = [];
  /** Whether the last value is a text that may continue. */
  #isText = false;
  /** Members whose value changed after it was written. */
  readonly #late = new Set<Step>();

  /** Whether no piece has arrived yet. */
  get isEmpty(): boolean {
    return this.#path.length === 0;
  }

  add(piece: PartialArg): string {
    const path = stepsOf(asText(piece.jsonPath));
    const [member] = path;
    const value = givenValue(piece);
    if (member === undefined || value === undefined) return "";
    const shared = this.#countShared(path);
    const canFollow = this.#canFollow(path, shared);
    const isMore = this.#isText && shared === path.length && shared === this.#path.length;
    if (!place(this.#root, path, value) || this.#late.has(member)) return "";
    if (isMore && typeof value === "string") return textWithin(value);
    if (canFollow) return this.#moveTo(path, shared) + this.#begin(value);
    this.#late.add(member);
    return "";
  }

  /** Closes the JSON. Changed members are written again: in JSON, the last occurrence counts. */
  end(): string {
    if (this.isEmpty) return "{}";
    const late = [...this.#late].map((name) => `,${keyText(name)}${jsonText(this.#root[name])}`);
    return `${this.#closeTo(0)}${late.join("")}}`;
  }

  #countShared(path: readonly Step[]): number {
    const differs = path.findIndex((at, index) => at !== this.#path[index]);
    return differs === -1 ? path.length : differs;
  }

  /** Whether a value is new and belongs at the end of a container that is still open. */
  #canFollow(path: readonly Step[], shared: number): boolean {
    if (this.isEmpty) return true;
    const at = path[shared];
    const previous = this.#path[shared];
    if (at === undefined || previous === undefined) return false;
    const container = this.#open[shared];
    const isBehind = !Array.isArray(container) || Number(at) > Number(previous);
    return isBehind && read(container, at) === undefined;
  }

  #moveTo(path: readonly Step[], shared: number): string {
    let text = this.isEmpty ? "{" : `${this.#closeTo(shared)},`;
    const open: unknown[] = this.isEmpty ? [this.#root] : this.#open.slice(0, shared + 1);
    for (const [index, at] of path.entries()) {
      if (index < shared) continue;
      const container = open.at(-1);
      const previous = index === shared ? this.#path[index] : undefined;
      text += Array.isArray(container) ? gapText(at, previous) : keyText(at);
      if (index === path.length - 1) continue;
      const inner = read(container, at);
      open.push(inner);
      text += Array.isArray(inner) ? "[" : "{";
    }
    this.#path = path;
    this.#open = open;
    return text;
  }

  #begin(value: Given): string {
    this.#isText = typeof value === "string";
    return typeof value === "string" ? `"${textWithin(value)}` : jsonText(value);
  }

  /** Closes the last value and everything that is open inside the container at a depth. */
  #closeTo(depth: number): string {
    const closed = this.#open.slice(depth + 1).reverse();
    const ends = closed.map((container) => (Array.isArray(container) ? "]" : "}"));
    return `${this.#isText ? '"' : ""}${ends.join("")}`;
  }
}

type Step = string | number;
type Given = string | number | boolean | null;

/** `$.a.b[0]` → a, b, 0; empty if the path is invalid. */
function stepsOf(path: string): Step[] {
  const steps = [...path.matchAll(step)].map(([, name, index, quoted]): Step => {
    return index === undefined ? (name ?? quoted ?? "") : Number(index);
  });
  const isUsable = (at: Step) => (typeof at === "number" ? at < mostItems : at !== "__proto__");
  return steps.length <= mostNested / 2 && steps.every(isUsable) ? steps : [];
}

/** Stores a value at its path; text is appended to existing text. Returns false if the path is invalid. */
function place(root: Record<Step, unknown>, path: readonly Step[], value: Given): boolean {
  let target: unknown = root;
  for (const [index, at] of path.slice(0, -1).entries()) {
    target = enter(target, at, typeof path[index + 1] === "number" ? [] : {});
    if (target === undefined) return false;
  }
  const last = path.at(-1) ?? "";
  const before = read(target, last);
  const isMore = typeof before === "string" && typeof value === "string";
  return write(target, last, isMore ? before + value : value);
}

function enter(target: unknown, at: Step, empty: object): unknown {
  const known = read(target, at);
  if (typeof known === "object" && known !== null) return known;
  if (known !== undefined) return undefined;
  return write(target, at, empty) ? empty : undefined;
}

function read(target: unknown, at: Step): unknown {
  if (Array.isArray(target)) return typeof at === "number" ? target[at] : undefined;
  return isJsonObject(target) && Object.hasOwn(target, at) ? target[at] : undefined;
}

function write(target: unknown, at: Step, value: unknown): boolean {
  if (Array.isArray(target)) {
    if (typeof at !== "number") return false;
    target[at] = value;
    return true;
  }
  if (!isJsonObject(target)) return false;
  target[at] = value;
  return true;
}

/** The value of a piece; a piece without any value only ends a text. */
function givenValue({ stringValue, numberValue, boolValue, nullValue }: PartialArg) {
  if (stringValue !== undefined && stringValue !== null) return asText(stringValue);
  if (typeof numberValue === "number") return numberValue;
  if (typeof boolValue === "boolean") return boolValue;
  return nullValue === undefined ? undefined : null;
}

function keyText(name: Step): string {
  return `${JSON.stringify(String(name))}:`;
}

/** Placeholders for list items that have not arrived. */
function gapText(at: Step, previous: Step | undefined): string {
  return "null,".repeat(Number(at) - (previous === undefined ? 0 : Number(previous) + 1));
}

function textWithin(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

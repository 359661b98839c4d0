import type { PartialArg } from "@google/genai";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import { asText } from "../reply/odd-values.ts";
import { jsonText, mostNested } from "../request/json-text.ts";

const mostItems = 10_000;
const step = /\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]/g;

/**
 * Arguments that come in pieces, each with the path of the value it belongs to, as JSON text that grows.
 * A piece costs its own length.
 */
export class PartialArgs {
  readonly #root: Record<Step, unknown> = {};
  /** The value that was written last. */
  #path: readonly Step[] = [];
  /** The objects and lists that are open, one for each step of the path. */
  #open: readonly unknown[] = [];
  /** The last value is a text, of which more may come. */
  #isText = false;
  /** Members that changed behind what was written of them. */
  readonly #late = new Set<Step>();

  /** Whether nothing has come yet. */
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

  /** The end of the JSON. Members that changed come again: in JSON the last one counts. */
  end(): string {
    if (this.isEmpty) return "{}";
    const late = [...this.#late].map((name) => `,${keyText(name)}${jsonText(this.#root[name])}`);
    return `${this.#closeTo(0)}${late.join("")}}`;
  }

  #countShared(path: readonly Step[]): number {
    const differs = path.findIndex((at, index) => at !== this.#path[index]);
    return differs === -1 ? path.length : differs;
  }

  /** Whether a value is new, in a container that is still open, and behind all that is written there. */
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

  /** Ends the last value and what is open within the container at a depth. */
  #closeTo(depth: number): string {
    const closed = this.#open.slice(depth + 1).reverse();
    const ends = closed.map((container) => (Array.isArray(container) ? "]" : "}"));
    return `${this.#isText ? '"' : ""}${ends.join("")}`;
  }
}

type Step = string | number;
type Given = string | number | boolean | null;

/** `$.a.b[0]` → a, b, 0; nothing where the path cannot be walked. */
function stepsOf(path: string): Step[] {
  const steps = [...path.matchAll(step)].map(([, name, index, quoted]): Step => {
    return index === undefined ? (name ?? quoted ?? "") : Number(index);
  });
  const isUsable = (at: Step) => (typeof at === "number" ? at < mostItems : at !== "__proto__");
  return steps.length <= mostNested / 2 && steps.every(isUsable) ? steps : [];
}

/** Puts a value at its place, a text behind what is there of it. False where the path leads nowhere. */
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

/** The value of a piece; one without any only says that a text has ended. */
function givenValue({ stringValue, numberValue, boolValue, nullValue }: PartialArg) {
  if (stringValue !== undefined && stringValue !== null) return asText(stringValue);
  if (typeof numberValue === "number") return numberValue;
  if (typeof boolValue === "boolean") return boolValue;
  return nullValue === undefined ? undefined : null;
}

function keyText(name: Step): string {
  return `${JSON.stringify(String(name))}:`;
}

/** Items of a list that did not come. */
function gapText(at: Step, previous: Step | undefined): string {
  return "null,".repeat(Number(at) - (previous === undefined ? 0 : Number(previous) + 1));
}

function textWithin(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

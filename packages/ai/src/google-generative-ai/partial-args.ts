import type { PartialArg } from "@google/genai";
import { asText } from "../reply/odd-values.ts";
import { mostNested } from "../request/json-text.ts";

const mostItems = 10_000;
const step = /\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]/g;

/** Arguments that come in pieces, each with the path of the value it belongs to. */
export class PartialArgs {
  readonly #root: Record<string, unknown> = {};

  /** The arguments so far. */
  get value(): Readonly<Record<string, unknown>> {
    return this.#root;
  }

  /** Sets a value; a piece of a text goes behind what is there of it. */
  add(piece: PartialArg): void {
    const path = stepsOf(asText(piece.jsonPath));
    const last = path.at(-1);
    if (last === undefined) return;
    let target: unknown = this.#root;
    for (const [index, name] of path.slice(0, -1).entries()) {
      target = enter(target, name, typeof path[index + 1] === "number" ? [] : {});
      if (target === undefined) return;
    }
    const before = read(target, last);
    const value = givenValue(piece);
    const isMore = typeof before === "string" && typeof value === "string";
    write(target, last, isMore ? before + value : value);
  }
}

type Step = string | number;

/** `$.a.b[0]` → a, b, 0; nothing where the path cannot be walked. */
function stepsOf(path: string): Step[] {
  const steps = [...path.matchAll(step)].map(([, name, index, quoted]): Step => {
    return index === undefined ? (name ?? quoted ?? "") : Number(index);
  });
  const isUsable = (at: Step) => (typeof at === "number" ? at < mostItems : at !== "__proto__");
  return steps.length <= mostNested / 2 && steps.every(isUsable) ? steps : [];
}

function enter(target: unknown, at: Step, empty: object): unknown {
  const known = read(target, at);
  if (typeof known === "object" && known !== null) return known;
  if (known !== undefined) return undefined;
  return write(target, at, empty) ? empty : undefined;
}

function read(target: unknown, at: Step): unknown {
  if (Array.isArray(target)) return typeof at === "number" ? target[at] : undefined;
  return isRecord(target) && Object.hasOwn(target, at) ? target[at] : undefined;
}

function write(target: unknown, at: Step, value: unknown): boolean {
  if (Array.isArray(target)) {
    if (typeof at !== "number") return false;
    target[at] = value;
    return true;
  }
  if (!isRecord(target)) return false;
  target[at] = value;
  return true;
}

function isRecord(value: unknown): value is Record<Step, unknown> {
  return typeof value === "object" && value !== null;
}

function givenValue({ stringValue, numberValue, boolValue }: PartialArg): unknown {
  return stringValue ?? numberValue ?? boolValue ?? null;
}

import { type BigIntStats, statSync } from "node:fs";
import { readTextFileNow } from "./read-text.ts";

/** A file that was written less than this ago may be written again in the same tick of its clock. */
const recentMs = 2_000;

/** What is made of a file's text, made again once the file has changed. */
export class DerivedText<Value> {
  readonly #path: string;
  readonly #derive: (text: string) => Value;
  readonly #empty: Value;
  #made: { readonly stamp: string; readonly value: Value } | undefined;

  /** `empty` stands for a file that is missing or cannot be read. */
  constructor(path: string, empty: Value, derive: (text: string) => Value) {
    this.#path = path;
    this.#empty = empty;
    this.#derive = derive;
  }

  get value(): Value {
    const found = statOf(this.#path);
    if (found === undefined) return this.#empty;
    const stamp = stampOf(found);
    if (this.#made !== undefined && this.#made.stamp === stamp) return this.#made.value;
    const file = readTextFileNow(this.#path);
    const value = file.kind === "text" ? this.#derive(file.text) : this.#empty;
    this.#made = isRecent(found) ? undefined : { stamp, value };
    return value;
  }
}

/** Differs when a file was written or replaced. */
function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join();
}

function isRecent({ mtimeMs, ctimeMs }: BigIntStats): boolean {
  const changed = mtimeMs > ctimeMs ? mtimeMs : ctimeMs;
  return Date.now() - Number(changed) < recentMs;
}

function statOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

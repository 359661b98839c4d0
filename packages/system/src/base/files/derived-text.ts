import type { BigIntStats } from "node:fs";
import { isRecent, stampOf } from "./file-stamp.ts";
import { readTextFileNow } from "./read-text.ts";

/** A value derived from the text of a file, derived again after the file has changed. */
export class DerivedText<Value> {
  readonly #path: string;
  readonly #derive: (text: string) => Value;
  readonly #empty: Value;
  #made: { readonly stamp: string; readonly value: Value } | undefined;

  /** @param empty the value for a file that is missing or cannot be read */
  constructor(path: string, empty: Value, derive: (text: string) => Value) {
    this.#path = path;
    this.#empty = empty;
    this.#derive = derive;
  }

  of(found: BigIntStats | undefined): Value {
    if (found === undefined) return this.#empty;
    const stamp = stampOf(found);
    if (this.#made !== undefined && this.#made.stamp === stamp) return this.#made.value;
    const file = readTextFileNow(this.#path);
    const value = file.kind === "text" ? this.#derive(file.text) : this.#empty;
    this.#made = isRecent(found) ? undefined : { stamp, value };
    return value;
  }
}

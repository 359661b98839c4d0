import { type BigIntStats, statSync } from "node:fs";
import { readTextFileNow } from "./read-text.ts";

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
    const stamp = stampOf(this.#path);
    if (stamp === undefined) return this.#empty;
    if (this.#made?.stamp !== stamp) {
      const file = readTextFileNow(this.#path);
      const value = file.kind === "text" ? this.#derive(file.text) : this.#empty;
      this.#made = { stamp, value };
    }
    return this.#made.value;
  }
}

/** Differs when a file was written or replaced; nothing for a file that is not there. */
function stampOf(path: string): string | undefined {
  const found = statOf(path);
  return found && [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join();
}

function statOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

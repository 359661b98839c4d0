/** Short ids, as `createEntryId` makes them, are stored as numbers. */
const shortId = /^[0-9a-f]{8}$/;
const SHORT_LENGTH = 8;
const FIRST_SLOTS = 16;
/** Multiplying by this number spreads neighbouring numbers (Knuth). */
const SPREAD = 0x9e3779b1;

/**
 * The position of each entry by its id. Short ids, which nearly all entries have, take eight bytes each
 * and are never made into strings: a `Map` of strings would take half of the time and of the memory of
 * the row "100 000 entries: spawn".
 */
export class IdTable {
  size = 0;
  #keys: Uint32Array;
  /** Positions plus one; 0 in an empty slot. */
  #values: Uint32Array;
  #shortIds = 0;
  readonly #others = new Map<string, number>();

  /** @param expected - the approximate number of ids to come, which avoids moving them to a larger table */
  constructor(expected = 0) {
    const slots = Math.max(FIRST_SLOTS, 2 ** Math.ceil(Math.log2(expected * 2 + 1)));
    this.#keys = new Uint32Array(slots);
    this.#values = new Uint32Array(slots);
  }

  get(id: string): number | undefined {
    return shortId.test(id) ? this.#find(Number.parseInt(id, 16)) : this.#others.get(id);
  }

  set(id: string, position: number): void {
    if (shortId.test(id)) this.#put(Number.parseInt(id, 16), position);
    else this.#putOther(id, position);
  }

  /** Like {@link get}, with the number of a short id. */
  getShort(key: number): number | undefined {
    return this.#find(key);
  }

  /** Like {@link set}, with the number of a short id. */
  setShort(key: number, position: number): void {
    this.#put(key, position);
  }

  #putOther(id: string, position: number): void {
    if (!this.#others.has(id)) this.size += 1;
    this.#others.set(id, position);
  }

  #find(key: number): number | undefined {
    const value = this.#values[this.#slotOf(key)];
    return value === 0 || value === undefined ? undefined : value - 1;
  }

  #put(key: number, position: number): void {
    if (this.#shortIds * 2 >= this.#keys.length) this.#grow();
    const slot = this.#slotOf(key);
    if (this.#values[slot] === 0) {
      this.size += 1;
      this.#shortIds += 1;
    }
    this.#keys[slot] = key;
    this.#values[slot] = position + 1;
  }

  /** The slot of a key, or the empty slot for it. */
  #slotOf(key: number): number {
    const mask = this.#keys.length - 1;
    let slot = (Math.imul(key, SPREAD) >>> 8) & mask;
    while (this.#values[slot] !== 0 && this.#keys[slot] !== key) slot = (slot + 1) & mask;
    return slot;
  }

  #grow(): void {
    const [keys, values] = [this.#keys, this.#values];
    this.#keys = new Uint32Array(keys.length * 2);
    this.#values = new Uint32Array(keys.length * 2);
    // Iterating over entries would take a quarter of the time of the row "100 000 entries: spawn".
    for (let index = 0; index < keys.length; index++) {
      const value = values[index] as number;
      if (value === 0) continue;
      const key = keys[index] as number;
      const slot = this.#slotOf(key);
      this.#keys[slot] = key;
      this.#values[slot] = value;
    }
  }
}

/** The number for a short id; undefined for any other id. */
export function shortKey(bytes: Uint8Array, from: number, to: number): number | undefined {
  if (to - from !== SHORT_LENGTH) return undefined;
  let key = 0;
  for (let index = from; index < to; index++) {
    const byte = bytes[index] as number;
    const isDigit = byte >= 0x30 && byte <= 0x39;
    if (!isDigit && !(byte >= 0x61 && byte <= 0x66)) return undefined;
    key = key * 16 + byte - (isDigit ? 0x30 : 0x57);
  }
  return key;
}

export function shortIdOf(key: number): string {
  return key.toString(16).padStart(SHORT_LENGTH, "0");
}

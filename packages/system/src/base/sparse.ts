/**
 * A map that usually stays empty. An empty `Map` takes 184 bytes, and a session has dozens of them (rows
 * `many-sessions`).
 */
export class SparseMap<Key, Value> {
  #map: Map<Key, Value> | undefined;

  get size(): number {
    return this.#map?.size ?? 0;
  }

  get(key: Key): Value | undefined {
    return this.#map?.get(key);
  }

  has(key: Key): boolean {
    return this.#map?.has(key) ?? false;
  }

  set(key: Key, value: Value): this {
    this.#map ??= new Map();
    this.#map.set(key, value);
    return this;
  }

  delete(key: Key): boolean {
    const isDeleted = this.#map?.delete(key) ?? false;
    if (this.#map?.size === 0) this.#map = undefined;
    return isDeleted;
  }

  clear(): void {
    this.#map = undefined;
  }

  keys(): Iterable<Key> {
    return this.#map?.keys() ?? [];
  }

  values(): Iterable<Value> {
    return this.#map?.values() ?? [];
  }

  [Symbol.iterator](): Iterator<[Key, Value]> {
    return (this.#map ?? [])[Symbol.iterator]();
  }
}

/** A set that usually stays empty. */
export class SparseSet<Item> {
  readonly #items = new SparseMap<Item, true>();

  get size(): number {
    return this.#items.size;
  }

  has(item: Item): boolean {
    return this.#items.has(item);
  }

  add(item: Item): this {
    this.#items.set(item, true);
    return this;
  }

  delete(item: Item): boolean {
    return this.#items.delete(item);
  }

  clear(): void {
    this.#items.clear();
  }

  [Symbol.iterator](): Iterator<Item> {
    return this.#items.keys()[Symbol.iterator]();
  }
}

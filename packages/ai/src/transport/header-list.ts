type Pairs = Iterable<readonly [string, string]>;
type Init = NonNullable<RequestInit["headers"]> | HeaderList;

/**
 * The headers of a request or a reply. Node's own `Headers` load all of its `fetch`, including HTTP/2: 17 MB,
 * and as much time as the rest of a start (rows "spawn → end of a first prompt", "RSS after one prompt").
 */
export class HeaderList implements Iterable<[string, string]> {
  readonly #values = new Map<string, string>();

  constructor(init?: Init | null) {
    for (const [name, value] of pairsOf(init ?? [])) this.append(name, value);
  }

  get(name: string): string | null {
    return this.#values.get(name.toLowerCase()) ?? null;
  }

  has(name: string): boolean {
    return this.#values.has(name.toLowerCase());
  }

  set(name: string, value: string): void {
    this.#values.set(name.toLowerCase(), String(value).trim());
  }

  /** Adds a value to the header's list of values. */
  append(name: string, value: string): void {
    const known = this.get(name);
    const own = String(value).trim();
    this.#values.set(name.toLowerCase(), known === null ? own : `${known}, ${own}`);
  }

  delete(name: string): void {
    this.#values.delete(name.toLowerCase());
  }

  entries(): MapIterator<[string, string]> {
    return this.#values.entries();
  }

  keys(): MapIterator<string> {
    return this.#values.keys();
  }

  values(): MapIterator<string> {
    return this.#values.values();
  }

  forEach(visit: (value: string, name: string, list: HeaderList) => void): void {
    for (const [name, value] of this) visit(value, name, this);
  }

  [Symbol.iterator](): MapIterator<[string, string]> {
    return this.entries();
  }
}

function pairsOf(init: Init): Pairs {
  return Symbol.iterator in init ? (init as Pairs) : Object.entries(init as Record<string, string>);
}

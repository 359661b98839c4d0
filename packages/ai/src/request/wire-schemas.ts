type Schema = Readonly<Record<string, unknown>>;

/** Beyond this number, the oldest are discarded and converted again when needed. */
const mostKept = 1_000;

/**
 * Caches the schemas of tools in the form of each wire format, by their content. Stream functions that share
 * a cache store a tool's schema once instead of once per session.
 */
export class WireSchemas {
  readonly #known = new Map<string, Schema>();

  /** The cached conversion of a tool's schema, given as JSON, for a wire format; otherwise the result of `make`. */
  of(api: string, json: string, make: () => Schema): Schema {
    const key = `${api}\n${json}`;
    const schema = this.#known.get(key) ?? make();
    this.#known.set(key, schema);
    const [oldest = key] = this.#known.keys();
    if (this.#known.size > mostKept) this.#known.delete(oldest);
    return schema;
  }
}

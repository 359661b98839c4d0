type Schema = Readonly<Record<string, unknown>>;

/** Beyond these the oldest are made again when they are needed. */
const mostKept = 1_000;

/**
 * Schemas of tools as wire formats take them, by what they say. Stream functions that share these keep the schema
 * of a tool once for all of them, and not once for each session.
 */
export class WireSchemas {
  readonly #known = new Map<string, Schema>();

  /** What was made of a tool's schema, as JSON, for a wire format; else what `make` makes now. */
  of(api: string, json: string, make: () => Schema): Schema {
    const key = `${api}\n${json}`;
    const schema = this.#known.get(key) ?? make();
    this.#known.set(key, schema);
    const [oldest = key] = this.#known.keys();
    if (this.#known.size > mostKept) this.#known.delete(oldest);
    return schema;
  }
}

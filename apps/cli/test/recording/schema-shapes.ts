type Json = Record<string, unknown>;

/** Keywords that do not constrain a value, and keywords whose values are schemas. */
const silent = ["$schema", "title", "description", "$defs", "$ref", "type", "default"];
const nested = ["items", "additionalProperties", "not", "anyOf", "oneOf", "properties"];

/**
 * Decides which values a schema cannot tell apart. Two values of one shape differ in nothing that a keyword
 * of the schema checks, so one verdict holds for both. For example, strings that the schema does not list,
 * repeated array items, and the names of unknown members make no difference.
 */
export class SchemaShapes {
  /** The values that the schema lists, as JSON. */
  readonly #values = new Set<string>();
  readonly #names = new Set<string>();
  readonly #bounds = new Set<number>();
  readonly #lengths = new Set<number>();
  readonly #patterns = new Map<string, RegExp>();
  #longest = 0;

  /** @throws {RangeError} if the schema has an unsupported keyword */
  constructor(schema: object) {
    this.#read(schema as Json);
    for (const value of this.#values) this.#longest = Math.max(this.#longest, value.length);
  }

  shapeOf(value: unknown): string {
    if (Array.isArray(value)) {
      return `[${[...new Set(value.map((item) => this.shapeOf(item)))].join()}]`;
    }
    if (typeof value === "object" && value !== null) return this.#shapeOfObject(value);
    if (typeof value === "string") return this.#shapeOfText(value);
    if (typeof value !== "number") return String(value);
    const named = this.#values.has(String(value)) ? value : "";
    const sides = [...this.#bounds].map((bound) => Math.sign(value - bound));
    return `${Number.isInteger(value) ? "i" : "n"}${named}${sides.join("")}`;
  }

  #shapeOfObject(value: object): string {
    const known: string[] = [];
    const unknown = new Set<string>();
    for (const [name, member] of Object.entries(value)) {
      const shape = this.shapeOf(member);
      if (this.#names.has(name)) known.push(`${name}:${shape}`);
      else unknown.add(`?:${shape}`);
    }
    return `{${[...known, ...unknown].join()}}`;
  }

  #shapeOfText(text: string): string {
    if (text.length <= this.#longest) {
      const json = JSON.stringify(text);
      if (this.#values.has(json)) return json;
    }
    const isShort = (length: number) => text.length < 2 * length && [...text].length < length;
    const lengths = [...this.#lengths].map((length) => (isShort(length) ? "<" : ""));
    const fits = [...this.#patterns.values()].map((pattern) => (pattern.test(text) ? "~" : ""));
    return `s${[...lengths, ...fits].join()}`;
  }

  #read(schema: Json): void {
    for (const [keyword, value] of Object.entries(schema)) {
      if (keyword === "const") this.#values.add(JSON.stringify(value));
      else if (keyword === "enum") this.#addValues(value as unknown[]);
      else if (keyword === "required") this.#addNames(value as string[]);
      else if (keyword === "minimum" || keyword === "maximum") this.#bounds.add(value as number);
      else if (keyword === "minLength") this.#lengths.add(value as number);
      else if (keyword === "pattern") {
        this.#patterns.set(value as string, new RegExp(value as string, "u"));
      } else if (keyword === "propertyNames") this.#readNames(value as Json);
      else if (!silent.includes(keyword) && !nested.includes(keyword)) {
        throw new RangeError(`Shapes of values do not show what "${keyword}" looks at`);
      }
    }
    const { $defs = {}, properties = {}, anyOf = [], oneOf = [] } = schema as Record<string, Json>;
    this.#addNames(Object.keys(properties));
    const within = [$defs, properties, anyOf, oneOf].flatMap((part) => Object.values(part));
    for (const part of [...within, schema.items, schema.additionalProperties, schema.not]) {
      if (typeof part === "object" && part !== null) this.#read(part as Json);
    }
  }

  /** Listed names belong to the shape; all other names have one verdict. */
  #readNames({ enum: names, ...rest }: Json): void {
    if (names !== undefined) this.#addNames(names as string[]);
    else if (JSON.stringify(rest) !== '{"type":"string"}') {
      throw new RangeError("Shapes of values do not show what names of members look like");
    }
  }

  #addValues(values: readonly unknown[]): void {
    for (const value of values) this.#values.add(JSON.stringify(value));
  }

  #addNames(names: readonly string[]): void {
    for (const name of names) this.#names.add(name);
  }
}

/** A schema that validates values and converts to JSON Schema, such as `z.object(…)` of zod 4. */
export interface TypedSchema<Value> {
  readonly "~standard": {
    readonly types?: { readonly output: Value } | undefined;
    readonly validate: (value: unknown) => CheckedValue<Value> | Promise<CheckedValue<Value>>;
    readonly jsonSchema: {
      readonly input: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown>;
    };
  };
}

type CheckedValue<Value> =
  | { readonly value: Value; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] };

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The type of the values of a schema; `unknown` for JSON Schema. */
export type ValueOf<Schema> = Schema extends TypedSchema<infer Value> ? Value : unknown;

/** Whether the value is such a schema instead of a JSON Schema. */
export function isTypedSchema(schema: unknown): schema is TypedSchema<unknown> {
  const standard: unknown = Object(schema)["~standard"];
  return Object(standard).jsonSchema !== undefined;
}

/** The schema as JSON Schema, without the `$schema` member, which some vendors reject. */
export function jsonSchemaOf(schema: object): Record<string, unknown> {
  if (!isTypedSchema(schema)) return { ...schema };
  const { $schema: _, ...described } = schema["~standard"].jsonSchema.input({
    target: "draft-2020-12",
  });
  return described;
}

/** The value with defaults and transforms applied, or one line for each problem. JSON Schema accepts everything. */
export async function checkValue(
  schema: unknown,
  value: unknown,
): Promise<{ readonly value: unknown } | { readonly problems: readonly string[] }> {
  if (!isTypedSchema(schema)) return { value };
  const checked = await schema["~standard"].validate(value);
  if (checked.issues === undefined) return { value: checked.value };
  const problems = checked.issues.map(({ message, path = [] }) => {
    const keys = path.map((part) => String(typeof part === "object" ? part.key : part));
    return `${keys.join(".") || "the value"}: ${message}`;
  });
  return { problems };
}

import { isJsonObject } from "@tau-agent/rpc-protocol/plain";

type Schema = Readonly<Record<string, unknown>>;

/** The member that holds the value if the schema is not that of an object. */
const WRAPPED = "value";

/** Keywords that add alternatives to `type: "object"`; vendors refuse them at the root. */
const mixed = ["anyOf", "oneOf", "allOf", "not", "enum", "const", "$ref", "if", "$dynamicRef"];

/** A schema with a root that vendors accept: an object. */
export interface WireSchema {
  readonly schema: Schema;
  unwrap(sent: unknown): unknown;
}

/** Wraps a schema whose root is not plainly an object. */
export function wrapSchema(schema: Schema): WireSchema {
  const isObject = schema.type === "object" && mixed.every((keyword) => !(keyword in schema));
  if (isObject) return { schema, unwrap: (sent) => sent };
  const { $schema, ...rest } = schema;
  return {
    schema: {
      ...($schema === undefined ? {} : { $schema }),
      type: "object",
      properties: { [WRAPPED]: moved(rest) },
      required: [WRAPPED],
      additionalProperties: false,
    },
    unwrap: (sent) => (isWrapper(sent) ? sent[WRAPPED] : sent),
  };
}

function isWrapper(sent: unknown): sent is Readonly<Record<typeof WRAPPED, unknown>> {
  return isJsonObject(sent) && Object.keys(sent).join() === WRAPPED;
}

/** References from the root now begin one level deeper. */
function moved(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(moved);
  if (!isJsonObject(schema)) return schema;
  // A schema with its own `$id` is the root for the references in it.
  if (typeof schema.$id === "string") return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      if (keyword === "enum" || keyword === "const" || keyword === "default")
        return [keyword, value];
      if (keyword !== "$ref" || typeof value !== "string") return [keyword, moved(value)];
      return [keyword, value.replace(/^#(?=\/|$)/, `#/properties/${WRAPPED}`)];
    }),
  );
}

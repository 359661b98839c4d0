/** Keywords that contain no schema and whose checks take time proportional to the value. */
const values: ReadonlySet<string> = new Set([
  ...["type", "enum", "const", "required", "default", "examples", "title", "description"],
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
  ...["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"],
  ...["$schema", "$comment", "deprecated", "readOnly", "writeOnly"],
]);
/** Keywords that contain one schema, a list of schemas, or schemas by name. */
const schemas: ReadonlySet<string> = new Set([
  ...["additionalProperties", "propertyNames", "items", "not"],
  ...["anyOf", "oneOf", "allOf", "prefixItems"],
]);

/** Larger schemas are not plain, because each list item may have to be compared with all of their parts. */
const MAX_PARTS = 500;

/**
 * Whether a schema is small and has only keywords that cannot keep a check busy for long: no patterns, no
 * references, no comparison of items. Schemas of built-in tools are plain.
 */
export function isPlainSchema(schema: unknown): boolean {
  let parts = 0;
  const isPlain = (part: unknown): boolean => {
    parts += 1;
    if (parts > MAX_PARTS) return false;
    if (typeof part === "boolean") return true;
    if (typeof part !== "object" || part === null) return false;
    if (Array.isArray(part)) return part.every(isPlain);
    return Object.entries(part).every(([keyword, value]) => {
      if (keyword === "enum" && Array.isArray(value)) parts += value.length;
      if (values.has(keyword)) return true;
      if (keyword !== "properties") return schemas.has(keyword) && isPlain(value);
      return typeof value === "object" && value !== null && Object.values(value).every(isPlain);
    });
  };
  return isPlain(schema) && parts <= MAX_PARTS;
}

import { toolRules } from "./tool-rules.ts";
import { UnusableSchema, wireSchema } from "./tool-schema.ts";

/** The name of the schema, for vendors that require one. */
export const OUTPUT_NAME = "output";

/** The schema in the vendor's format; undefined if it cannot be expressed there. */
export function outputSchemaFor(
  api: string,
  schema: Readonly<Record<string, unknown>> | undefined,
): Readonly<Record<string, unknown>> | undefined {
  if (schema === undefined) return undefined;
  try {
    return wireSchema(JSON.parse(JSON.stringify(schema)), toolRules(api));
  } catch (error) {
    if (error instanceof UnusableSchema) return undefined;
    throw error;
  }
}

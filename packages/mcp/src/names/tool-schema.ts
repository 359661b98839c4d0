import { checkSchema } from "@tau-agent/agent";
import { errorMessage, isJsonObject, type JsonObject } from "@tau-agent/rpc-protocol/plain";

/** A tool's arguments in a form that every vendor accepts, or why there is none. */
export type ToolSchema = { readonly schema: JsonObject } | { readonly reason: string };

const argumentName = /^[A-Za-z0-9_.-]{1,64}$/;
/** Keywords that vendors refuse at the top of a schema. */
const refused = ["anyOf", "oneOf", "allOf", "not", "enum", "$ref"];

/** Checks the schema of a server's tool; `type` and `properties` may be missing. */
export function readToolSchema(given: unknown): ToolSchema {
  if (!isJsonObject(given)) return { reason: "its input schema is not an object" };
  const { type = "object", properties = {}, ...rest } = given;
  if (type !== "object") {
    return { reason: `its input schema has type ${JSON.stringify(type)}, not "object"` };
  }
  const keyword = refused.find((name) => rest[name] !== undefined);
  if (keyword !== undefined) return { reason: `its input schema has ${keyword} at the top` };
  if (!isJsonObject(properties))
    return { reason: "the properties of its schema are not an object" };
  const key = Object.keys(properties).find((name) => !argumentName.test(name));
  if (key !== undefined) {
    return { reason: `vendors refuse the argument name ${JSON.stringify(key.slice(0, 80))}` };
  }
  const schema = { ...given, type, properties };
  return problemOf(schema) ?? { schema };
}

function problemOf(schema: JsonObject): { reason: string } | undefined {
  try {
    checkSchema(schema, "inputSchema");
    return undefined;
  } catch (error) {
    return { reason: errorMessage(error) };
  }
}

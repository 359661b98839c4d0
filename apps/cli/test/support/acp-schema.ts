import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Ajv2020 } from "ajv/dist/2020.js";

/** A message of the Agent Client Protocol. */
export interface AcpMessage {
  readonly jsonrpc?: unknown;
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

interface Definition {
  readonly "x-method"?: string;
  readonly "x-side"?: string;
}

const { resolve } = createRequire(import.meta.url);
const path = resolve("@agentclientprotocol/sdk/schema/v1/schema.json");
const schema: { readonly $defs: Record<string, Definition> } = JSON.parse(
  readFileSync(path, "utf8"),
);
// The schema has custom annotations, and formats that only state the width of a number.
const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(schema, "acp");

/** The name of the definition of a method's parameters or result. */
function definitionOf(method: string, kind: "Request" | "Response" | "Notification") {
  return Object.entries(schema.$defs).find(
    ([name, one]) => one["x-method"] === method && name.endsWith(kind),
  )?.[0];
}

/** Validates every message between a client and its agent against the published schema. */
export class AcpSchemaCheck {
  readonly #asked = { client: new Map<unknown, string>(), agent: new Map<unknown, string>() };

  /** Why a message is invalid; undefined if it is valid. */
  violation(from: "client" | "agent", message: AcpMessage): string | undefined {
    const { id, method, params, result, error } = message;
    if (message.jsonrpc !== "2.0") return "jsonrpc is not 2.0";
    if (typeof method === "string") {
      const kind = id === undefined ? "Notification" : "Request";
      if (id !== undefined) this.#asked[from].set(id, method);
      return this.#invalid(definitionOf(method, kind), params, `${kind} ${method}`);
    }
    if (error !== undefined) return this.#invalid("Error", error, "error");
    const asker = from === "agent" ? "client" : "agent";
    const answered = this.#asked[asker].get(id);
    if (answered === undefined) return `an answer to nothing: ${String(id)}`;
    return this.#invalid(definitionOf(answered, "Response"), result, `Response ${answered}`);
  }

  #invalid(name: string | undefined, value: unknown, what: string): string | undefined {
    if (name === undefined) return `the schema has no ${what}`;
    const validate = ajv.getSchema(`acp#/$defs/${name}`);
    if (validate === undefined) return `no definition ${name}`;
    if (validate(value)) return undefined;
    return `${what}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(value).slice(0, 2000)}`;
  }
}

import { readFileSync } from "node:fs";
import { type OutputUnit, type Schema, Validator } from "@cfworker/json-schema";

const schema = JSON.parse(
  readFileSync(new URL(import.meta.resolve("@tau-agent/rpc-protocol/schema.json")), "utf8"),
) as Schema & { $defs: Record<string, { properties?: Record<string, { const?: unknown }> }> };

const validators = new Map<string, Validator>();

/** Why a value is not what the published schema calls `name`; undefined when it is. */
export function schemaViolation(name: string, value: unknown): string | undefined {
  if (schema.$defs[name] === undefined) return `there is no schema ${name}`;
  let validator = validators.get(name);
  validator ??= new Validator({ ...schema, $ref: `#/$defs/${name}` } as Schema, "2020-12", true);
  validators.set(name, validator);
  const { valid, errors } = validator.validate(value);
  return valid ? undefined : `not a ${name}: ${explain(errors)}\n${JSON.stringify(value)}`;
}

function explain(errors: readonly OutputUnit[]): string {
  return errors.map(({ instanceLocation, error }) => `${instanceLocation} ${error}`).join("; ");
}

/** Holds every frame a host sends against the schema of the dialect that is on. */
export class SchemaCheck {
  #dialect: string;

  constructor(place: {
    readonly arguments: readonly string[];
    readonly variables: Readonly<Record<string, string>>;
  }) {
    const at = place.arguments.indexOf("--protocol");
    const flag = at === -1 ? "pi" : (place.arguments[at + 1] ?? "pi");
    this.#dialect = place.variables.PI_RPC_PROTOCOL ?? flag;
  }

  /** Why a frame is not allowed; undefined when it is. */
  violation(frame: Record<string, unknown>): string | undefined {
    const { type, command, success, data } = frame;
    // The first line in the mode json.
    if (type === "session") return schemaViolation("SessionHeader", frame);
    if (command === "initialize" && success === true) {
      this.#dialect = (data as { protocol: string }).protocol;
    }
    return schemaViolation(`${pascal(this.#dialect)}HostFrame`, frame);
  }
}

function pascal(name: string): string {
  return name.replace(/(?:^|-)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

import { schemaViolation } from "./published-schema.ts";

/** Validates every frame that a host sends against the schema of the current dialect. */
export class SchemaCheck {
  #dialect: string;

  constructor(place: {
    readonly arguments: readonly string[];
    readonly variables: { readonly PI_RPC_PROTOCOL?: string | undefined };
  }) {
    const at = place.arguments.indexOf("--protocol");
    const flag = at === -1 ? "pi" : (place.arguments[at + 1] ?? "pi");
    this.#dialect = place.variables.PI_RPC_PROTOCOL ?? flag;
  }

  /** The current dialect. */
  get dialect(): string {
    return this.#dialect;
  }

  /** Why a frame is invalid; undefined if it is valid. */
  violation(frame: Record<string, unknown>): string | undefined {
    const { type, command, success, data } = frame;
    // The first line in json mode.
    if (type === "session") return schemaViolation("SessionHeader", frame);
    if (command === "initialize" && success === true) {
      this.#dialect = (data as { protocol: string }).protocol;
    }
    return schemaViolation(`${pascal(this.#dialect)}HostFrame`, frame);
  }
}

/** Why a line of a session file is invalid; undefined if it is valid. */
export function entryViolation(entry: Record<string, unknown>): string | undefined {
  return schemaViolation(entry.type === "session" ? "SessionHeader" : "SessionEntry", entry);
}

function pascal(name: string): string {
  return name.replace(/(?:^|-)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

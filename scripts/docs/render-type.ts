import * as z from "zod/mini";
import { takeTexts } from "./field-texts.ts";

interface JsonSchema {
  $ref?: string;
  description?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  additionalProperties?: JsonSchema | boolean;
  required?: string[];
  items?: JsonSchema;
  $defs?: Record<string, JsonSchema>;
}

export interface Member {
  readonly name: string;
  readonly isRequired: boolean;
  readonly type: string;
  readonly constant: unknown;
  readonly text: string;
}

export interface Alternative {
  readonly members: readonly Member[];
  readonly text: string;
}

export class TypeRenderer {
  readonly #names: z.core.$ZodRegistry<{ id: string }> = z.registry();
  readonly #named: Record<string, z.core.$ZodType>;

  constructor(named: Record<string, z.core.$ZodType>) {
    this.#named = named;
    for (const [id, schema] of Object.entries(named)) this.#names.add(schema, { id });
  }

  type(schema: z.core.$ZodType): string {
    const id = this.#names.get(schema)?.id;
    return id ?? this.#render(this.#convert(schema));
  }

  members(schema: z.core.$ZodType): Member[] {
    return this.#membersOf(this.#whole(schema));
  }

  alternatives(schema: z.core.$ZodType): Alternative[] {
    const whole = this.#whole(schema);
    const options = whole.oneOf ?? whole.anyOf ?? [];
    return options.map((option) => ({
      members: this.#membersOf(option),
      text: option.description ?? "",
    }));
  }

  /** Each named schema with its type spelled out. */
  *definitions(): Generator<[string, string]> {
    for (const [name, schema] of Object.entries(this.#named)) {
      yield [name, this.#render(this.#whole(schema))];
    }
  }

  #membersOf({ properties = {}, required = [] }: JsonSchema): Member[] {
    return Object.entries(properties).map(([name, member]) => ({
      name,
      isRequired: required.includes(name),
      type: this.#render(member),
      constant: member.const,
      text: member.description ?? "",
    }));
  }

  #convert(schema: z.core.$ZodType): JsonSchema {
    const options = { metadata: this.#names, unrepresentable: "any", io: "input" } as const;
    const converted = z.toJSONSchema(schema, options) as JsonSchema;
    takeTexts(converted);
    return converted;
  }

  /** A named schema is converted to a reference to itself; this returns its target. */
  #whole(schema: z.core.$ZodType): JsonSchema {
    const converted = this.#convert(schema);
    const name = converted.$ref?.split("/").at(-1);
    return (name && converted.$defs?.[name]) || converted;
  }

  #render(schema: JsonSchema): string {
    if (schema.$ref) return schema.$ref.split("/").at(-1) ?? "unknown";
    if (schema.const !== undefined) return JSON.stringify(schema.const);
    if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
    const options = schema.oneOf ?? schema.anyOf;
    if (options) return options.map((option) => this.#render(option)).join(" | ");
    if (Array.isArray(schema.type)) {
      return schema.type.map((type) => this.#render({ ...schema, type })).join(" | ");
    }
    if (schema.type === "array") return this.#renderArray(schema);
    if (schema.type === "object") return this.#renderObject(schema);
    return schema.type ?? "unknown";
  }

  #renderArray(schema: JsonSchema): string {
    const item = schema.items ? this.#render(schema.items) : "unknown";
    return item.includes(" | ") ? `(${item})[]` : `${item}[]`;
  }

  #renderObject(schema: JsonSchema): string {
    const { properties = {}, required = [], additionalProperties } = schema;
    const members = Object.entries(properties).map(
      ([name, member]) => `${name}${required.includes(name) ? "" : "?"}: ${this.#render(member)}`,
    );
    if (members.length > 0) return `{ ${members.join("; ")} }`;
    if (typeof additionalProperties !== "object") return "{}";
    return `{ [key: string]: ${this.#render(additionalProperties)} }`;
  }
}

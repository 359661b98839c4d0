/** The part of JSON Schema that the built-in tools use. */
export type ObjectSchema = {
  readonly type: "object";
  readonly properties: Readonly<Record<string, PropertySchema>>;
  readonly required: readonly string[];
};

/** The schema of one argument. */
type PropertySchema = { readonly description?: string } & (
  | { readonly type: "string"; readonly enum?: readonly string[] }
  | { readonly type: "number" | "boolean" }
  | { readonly type: "array"; readonly items: ObjectSchema }
);

type ValueOf<Property> = Property extends { readonly type: "string" }
  ? Property extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : string
  : Property extends { readonly type: "number" }
    ? number
    : Property extends { readonly type: "boolean" }
      ? boolean
      : Property extends {
            readonly type: "array";
            readonly items: infer Items extends ObjectSchema;
          }
        ? readonly ArgumentsOf<Items>[]
        : never;

/** The type of the arguments of a schema written `as const`. */
export type ArgumentsOf<Schema extends ObjectSchema> = {
  readonly [Name in keyof Schema["properties"] as Name extends Schema["required"][number]
    ? Name
    : never]: ValueOf<Schema["properties"][Name]>;
} & {
  readonly [Name in keyof Schema["properties"] as Name extends Schema["required"][number]
    ? never
    : Name]?: ValueOf<Schema["properties"][Name]> | undefined;
};

/** The integer of at least 1 that a model meant; undefined if the value is unusable. */
export function countArgument(value: number | undefined): number | undefined {
  if (value === undefined || value === null || !Number.isFinite(value)) return undefined;
  return Math.max(1, Math.floor(value));
}

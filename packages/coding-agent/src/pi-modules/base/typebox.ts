/** The parts of TypeBox that older versions had under other names. */
interface Validator {
  Check(value: unknown): boolean;
  Errors(value: unknown): readonly { instancePath: string; message: string }[];
}

interface OldError {
  readonly path: string;
  readonly message: string;
}

/** A list of errors with the older method `First()`. */
function oldErrors(errors: readonly { instancePath: string; message: string }[]) {
  const list: OldError[] = errors.map(({ instancePath, message }) => ({
    path: instancePath,
    message,
  }));
  return Object.assign(list, { First: () => list[0] });
}

/** TypeBox under its older name, including members that only the older version had. */
export async function loadOldTypebox(): Promise<object> {
  const typebox = await import("typebox");
  const { Type } = typebox;
  const json = (schema: object): never => Type.Unsafe(schema) as never;
  const added = {
    Date: (options = {}) => json({ ...options, type: "Date" }),
    Uint8Array: (options = {}) => json({ ...options, type: "Uint8Array" }),
    RegExp: (source: string | RegExp, options = {}) =>
      Type.String({ ...options, pattern: typeof source === "string" ? source : source.source }),
    Composite: (schemas: object[], options = {}) => mergeObjects(schemas, options),
    Recursive: (build: (self: object) => object) => json(build({ $ref: "#" })),
    Strict: (schema: object) => JSON.parse(JSON.stringify(schema)) as object,
    Not: (schema: object, options = {}) => json({ ...options, not: schema }),
  };
  return {
    ...typebox,
    Type: { ...Type, ...added },
    Kind: Symbol.for("TypeBox.Kind"),
    Hint: Symbol.for("TypeBox.Hint"),
    OptionalKind: Symbol.for("TypeBox.Optional"),
    FormatRegistry: new Map(),
    TypeRegistry: new Map(),
  };
}

function mergeObjects(schemas: object[], options: object): object {
  const objects = schemas as { properties?: object; required?: string[] }[];
  const required = [...new Set(objects.flatMap((schema) => schema.required ?? []))];
  return {
    type: "object",
    properties: Object.assign({}, ...objects.map(({ properties }) => properties)),
    ...(required.length === 0 ? {} : { required }),
    ...options,
  };
}

/** The compiler of the older TypeBox on top of today's. */
export async function loadOldTypeboxCompiler(): Promise<object> {
  const { Compile } = await import("typebox/compile");
  const compile = (schema: object) => {
    const validator = Compile(schema as never) as unknown as Validator;
    return {
      Check: (value: unknown) => validator.Check(value),
      Errors: (value: unknown) => oldErrors(validator.Errors(value)),
    };
  };
  return { TypeCompiler: { Compile: compile } };
}

/** Value checks of the older TypeBox: its errors have a `path` and a `First()`. */
export async function loadOldTypeboxValue(): Promise<object> {
  const module = await import("typebox/value");
  const { Errors } = module as unknown as { Errors: (...given: unknown[]) => never[] };
  const Value = {
    ...(module.Value as object),
    Errors: (...given: unknown[]) => oldErrors(Errors(...given)),
  };
  return { ...module, Value };
}

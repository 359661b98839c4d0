import type { GuardedSchema } from "./guarded-schema.ts";

const guards = new WeakMap<object, GuardedSchema>();
let loading: Promise<typeof import("./guarded-schema.ts")> | undefined;

/**
 * The guard of a schema, cached: creating its validator takes longer than a check (row "`read` turn: CPU"),
 * and it remembers checks that exceeded the time limit.
 *
 * @param name - what texts call the schema, such as `outputSchema`
 */
export async function guardSchema(schema: object, name: string): Promise<GuardedSchema> {
  const known = guards.get(schema);
  if (known !== undefined) return known;
  loading ??= import("./guarded-schema.ts");
  const { GuardedSchema } = await loading;
  const guard = guards.get(schema) ?? new GuardedSchema(schema, name);
  guards.set(schema, guard);
  return guard;
}

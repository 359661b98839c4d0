import type { LoginProvider } from "@tau-agent/rpc-protocol";
import { nearest } from "@tau-agent/rpc-protocol/plain";
import { defaultModels } from "./default-models.ts";
import type { ModelRegistry } from "./registry.ts";

/**
 * The providers for which a user can log in or store a key: those with a login first, then by id.
 * Servers that need no key are left out.
 */
export async function listLoginProviders(registry: ModelRegistry): Promise<LoginProvider[]> {
  const { keys, logins } = registry;
  const [ids, custom, stored] = await Promise.all([
    registry.providers(),
    registry.customProviders(),
    keys.store.all(),
  ]);
  const all = [...new Set([...ids, ...(logins?.ids ?? []), ...stored.keys()])].sort();
  const rows = await Promise.all(
    all.map(async (id): Promise<LoginProvider | undefined> => {
      const credential = stored.get(id);
      const entry = custom.get(id);
      const own = (await logins?.methodsOf(id)) ?? [];
      const needsNothing = entry?.isKeyless === true && own.length === 0;
      if (needsNothing && credential === undefined) return undefined;
      const takesKey = logins?.takesKey(id) ?? true;
      const expires = credential?.type === "oauth" ? credential.expires : undefined;
      return {
        id,
        name: logins?.nameOf(id) ?? entry?.name ?? id,
        methods: [...own, ...(takesKey ? (["key"] as const) : [])],
        loggedIn: credential !== undefined,
        ...(Number.isFinite(expires) && { expires: Number(expires) }),
      };
    }),
  );
  const known = rows.filter((row) => row !== undefined);
  const hasLogin = ({ methods }: LoginProvider): boolean => methods[0] !== "key";
  return [...known.filter(hasLogin), ...known.filter((row) => !hasLogin(row))];
}

/** A hint to add to a sentence about an unknown provider: the one that was probably meant, or some examples. */
export function providerHint(
  word: string,
  known: readonly (string | Pick<LoginProvider, "id" | "name">)[],
): string {
  const providers = known.map((one) => (typeof one === "string" ? { id: one, name: one } : one));
  const near = meantProvider(word, providers);
  if (near !== undefined) return `; the nearest is ${near}`;
  const some = providers.slice(0, 4).map(({ id }) => id);
  return `; there are ${some.join(", ")} and others`;
}

function meantProvider(
  word: string,
  providers: readonly Pick<LoginProvider, "id" | "name">[],
): string | undefined {
  const ids = providers.map(({ id }) => id);
  const slip = nearest(word, ids);
  if (slip !== undefined || word.length < 3) return slip;
  const has = (text: string) => text.toLowerCase().includes(word.toLowerCase());
  const named = providers.find(({ id, name }) => has(id) || has(name));
  if (named !== undefined) return named.id;
  // A product is often better known than its maker.
  return Object.entries(defaultModels).find(
    ([id, models]) => ids.includes(id) && models.some(has),
  )?.[0];
}

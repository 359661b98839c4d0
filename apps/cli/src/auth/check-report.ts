import { type ModelRegistry, SessionError } from "@tau-agent/coding-agent";
import { listLoginProviders, type ResolvedKey } from "@tau-agent/models";

/**
 * Lists where the keys and logins come from, one line per provider and without any secret. Covers the named
 * provider, or else every provider that has a key or a login.
 *
 * @throws {SessionError} `no_key`, `key_unresolved` for a provider that was named
 */
export async function checkReport(registry: ModelRegistry, named?: string): Promise<string> {
  const { keys } = registry;
  if (named !== undefined) {
    return `${named}: ${await describe(registry, named, await keys.require(named))}\n`;
  }
  const available = await keys.availableProviders(await registry.providers());
  const ids = (await listLoginProviders(registry)).map(({ id }) => id);
  const lines = await Promise.all(
    ids.map(async (id) => {
      if (!available.has(id)) return undefined;
      try {
        const key = await keys.resolve(id);
        return key && `${id}: ${await describe(registry, id, key)}`;
      } catch (error) {
        if (error instanceof SessionError) return `${id}: ${error.message}`;
        throw error;
      }
    }),
  );
  const found = lines.filter((line) => line !== undefined);
  if (found.length > 0) return `${found.join("\n")}\n`;
  return "No provider has a key or a login. Run tau auth login <provider>.\n";
}

async function describe(
  { keys }: ModelRegistry,
  provider: string,
  { source }: ResolvedKey,
): Promise<string> {
  switch (source) {
    case "login": {
      const { expires } = (await keys.login(provider)) ?? {};
      const until =
        expires === undefined || !isDate(expires) ? "" : `, valid until ${text(expires)}`;
      return `login in auth.json${until}`;
    }
    case "environment": {
      const { environment } = keys;
      const name = keys.variablesOf(provider).find((each) => (environment[each] ?? "") !== "");
      return `key in ${name ?? "auth.json"}`;
    }
    case "auth_file":
      return "key in auth.json";
    case "models_file":
      return "key in models.json";
    case "credentials":
      return "key that was asked for";
    case "runtime":
      return "key of this process";
    case "cloud":
      return "the credentials of this machine";
    case "none":
      return "needs no key";
  }
}

function isDate(time: number): boolean {
  return Number.isFinite(time) && Math.abs(time) < 8.64e15;
}

function text(time: number): string {
  return new Date(time).toISOString();
}

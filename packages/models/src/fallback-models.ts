import type { Model } from "@tau-agent/rpc-protocol/messages";
import { canonicalProvider } from "./auth/provider-aliases.ts";
import type { ModelRegistry } from "./registry.ts";
import { modelNotFound } from "./resolver.ts";

/**
 * The models named in a list of fallbacks. Fallbacks take over without asking, so each must be named
 * exactly, as `provider/id`.
 *
 * @throws {SessionError} `model_not_found` with similar names
 */
export function resolveFallbacks(
  registry: ModelRegistry,
  names: readonly string[],
): Promise<readonly Model[]> {
  return Promise.all(
    names.map(async (given) => {
      const name = given.trim();
      const slash = name.indexOf("/");
      const provider = canonicalProvider(name.slice(0, Math.max(slash, 0)));
      const found = slash > 0 ? await registry.find(provider, name.slice(slash + 1)) : undefined;
      if (found !== undefined) return found;
      throw await modelNotFound(registry, { model: name });
    }),
  );
}

import type { Diagnostic } from "../base/diagnostic.ts";
import { type FindOptions, findLocalServers } from "./local-servers.ts";
import type { ModelRegistry } from "./registry.ts";

/** Adds the local servers that answer to the registry, except those the user has described. */
export async function addLocalServers(
  registry: ModelRegistry,
  options: FindOptions,
): Promise<readonly Diagnostic[]> {
  const found = await findLocalServers(options);
  const own = await registry.customProviders();
  const added = found.filter(({ provider }) => !own.has(provider.id));
  for (const { provider } of added) registry.addProvider(provider);
  const [first] = added;
  if (first === undefined) return [];
  const [model] = await registry.models(first.provider.id);
  const size = model === undefined ? "" : `, window ${model.contextWindow} tokens`;
  const message = `No model with a key is named: using ${first.modelIds[0]} of ${first.name} at ${first.origin}${size}`;
  return [{ severity: "warning", code: "local_server", message }];
}

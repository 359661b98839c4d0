import type { Diagnostic } from "@tau-agent/system";
import { localOrigins } from "./local/addresses.ts";
import { serverNames } from "./local/server-kinds.ts";
import { type FindOptions, findLocalServers, type UnknownServer } from "./local-servers.ts";
import type { ModelRegistry } from "./registry.ts";

/** Adds the local servers that answer to the registry, except those the user has described. */
export async function addLocalServers(
  registry: ModelRegistry,
  options: FindOptions,
): Promise<readonly Diagnostic[]> {
  const unknown: UnknownServer[] = [];
  const found = await findLocalServers({ ...options, onUnknown: (server) => unknown.push(server) });
  const own = await registry.customProviders();
  const added = found.filter(({ provider }) => !own.has(provider.id));
  for (const { provider } of added) registry.addProvider(provider);
  const [first] = added;
  if (first === undefined) return unknown.map(describeUnknown);
  const [model] = await registry.models(first.provider.id);
  const size = model === undefined ? "" : `, window ${model.contextWindow} tokens`;
  const message = `No model with a key is named: using ${first.modelIds[0]} of ${first.name} at ${first.origin}${size}`;
  return [{ severity: "warning", code: "local_server", message }];
}

/**
 * Explains that the server for a model such as `ollama/qwen3` was asked and returned no models.
 *
 * @param name - a model name that begins with the id of a kind of server
 */
export function describeSilent(name: string, { addresses, environment = {} }: FindOptions): string {
  const [id = ""] = name.toLowerCase().split("/");
  const kind = id.replace(/-\d+$/, "");
  const shown = Object.entries(serverNames).find(([known]) => known === kind)?.[1] ?? id;
  const origins = localOrigins(addresses, environment, kind);
  if (origins.length === 0) return `the setting localServers names no address to ask for ${shown}`;
  return `no ${shown} with a model answers at ${origins.join(", ")}`;
}

/** Explains how to use a server that is not used automatically (decision 59). */
function describeUnknown({ origin, modelIds }: UnknownServer): Diagnostic {
  const models = modelIds.slice(0, 1).map((id) => ({ id }));
  const provider = { baseUrl: `${origin}/v1`, api: "openai-completions", models };
  const file = JSON.stringify({ providers: { local: provider } });
  const message = `The server at ${origin} is not taken by itself, as it answers as none of Ollama, LM Studio, llama.cpp and vLLM. To use it, put this into models.json of the agent directory: ${file}`;
  return { severity: "warning", code: "local_server_unknown", message };
}

import type { ModelRegistry } from "@tau-agent/models";
import { type KeySources, KnownKeys } from "@tau-agent/system";
import type { Places } from "./places.ts";
import type { SessionSetup } from "./session-options.ts";

/** Where the keys are known from that no tool and no span may show. */
export function keySourcesOf(
  { environment = {} }: SessionSetup,
  { agentDirectory }: Places,
  registry: ModelRegistry,
): KeySources & { readonly noteSecret: (value: string) => void } {
  const known = new KnownKeys(agentDirectory);
  const seen = new Set<string>();
  const used = () => [...registry.keys.secrets, ...seen];
  return { environment, known, used, noteSecret: (value) => void seen.add(value) };
}

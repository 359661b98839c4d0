import { type KeySources, KnownKeys } from "@tau-agent/system";
import type { SessionBase } from "./session-base.ts";

/** The sources of keys that no tool and no span may show. */
export interface SessionKeys extends KeySources {
  readonly noteSecret: (value: string) => void;
}

export function sessionKeys({ environment, places, registry, options }: SessionBase): SessionKeys {
  const { agentDirectory } = places;
  const known = options.sharing.knownKeys.get(agentDirectory, () => new KnownKeys(agentDirectory));
  const seen = new Set<string>();
  const used = () => [...registry.keys.secrets, ...seen];
  return { environment, known, used, noteSecret: (value) => void seen.add(value) };
}

import { coversDomain } from "./domain-list.ts";
import { hostAndPort, type SandboxSecret } from "./secret-settings.ts";

/** The secrets whose hosts are allowed by everyone who may restrict the network: projects, and the host's policy. */
export function usableSecrets(
  { secrets, mode }: { readonly secrets: readonly SandboxSecret[]; readonly mode: string },
  networks: readonly (string | readonly string[])[],
): { readonly secrets: readonly SandboxSecret[]; readonly unused: readonly string[] } {
  const isOpen = (host: string) =>
    networks.every((network) =>
      typeof network === "string"
        ? network === "all"
        : coversDomain(network, hostAndPort(host).name),
    );
  const open = secrets
    .map((secret) => ({ ...secret, hosts: secret.hosts.filter(isOpen) }))
    .filter(({ hosts }) => mode !== "off" && hosts.length > 0);
  const names = new Set(open.map(({ env }) => env));
  const unused = secrets.map(({ env }) => env).filter((env) => !names.has(env));
  return { secrets: open, unused };
}

import type { SandboxPolicy } from "./sandbox-settings.ts";

/** The last line of the result of a failed command, with the paths that commands may write to. */
export function failureNotice(
  { network, secrets }: Pick<SandboxPolicy, "network" | "secrets">,
  named: readonly string[],
): string {
  const hosts = secrets.flatMap((secret) => secret.hosts);
  const writable = [...named, "/tmp"].join(", ");
  const reach =
    network === "all"
      ? "all"
      : [...(network === "off" ? [] : network), ...hosts].join(", ") || "none";
  return `[It ran in a sandbox. Writable: ${writable}. Network: ${reach}.]`;
}

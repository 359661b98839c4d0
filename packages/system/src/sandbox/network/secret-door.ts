import { readFileSync } from "node:fs";
import { type SandboxPolicy, settingPath } from "../policy/sandbox-settings.ts";
import { createAuthority } from "./authority.ts";
import { systemBundle, trusting } from "./certificates.ts";
import type { SandboxNetworkDoor } from "./network-door.ts";
import { type DoorPlace, openDoor } from "./open-door.ts";
import type { ProxyRules } from "./proxy.ts";
import { SecretGate } from "./secret-gate.ts";
import type { SessionSecrets } from "./session-secrets.ts";

interface SecretDoorParts extends Omit<ProxyRules, "secrets"> {
  readonly secrets: SessionSecrets;
  readonly policy: Pick<SandboxPolicy, "upstreamCertificates">;
  /** The folders against which the path of the authorities file is resolved. */
  readonly places: { readonly cwd: () => string; readonly homeDirectory: string };
}

/** A door whose proxy ends TLS for the hosts of secrets, and tells commands which authority to trust. */
export async function openSecretDoor(
  place: DoorPlace,
  parts: SecretDoorParts,
): Promise<SandboxNetworkDoor> {
  const { rules, certificate } = await secretRules(parts);
  return trusting(await openDoor(place, rules), place.folder, certificate);
}

/** The rules of such a proxy, and the certificate that its commands have to trust. */
export async function secretRules({
  secrets,
  domains,
  closedPorts,
  policy,
  places,
}: SecretDoorParts): Promise<{ readonly rules: ProxyRules; readonly certificate: string }> {
  const authority = await createAuthority(secrets.hosts.map(({ name }) => name));
  const upstreamAuthorities = upstreamOf(policy, places);
  const gate = new SecretGate({ secrets, authority, upstreamAuthorities, closedPorts });
  return { rules: { domains, closedPorts, secrets: gate }, certificate: authority.certificate };
}

/** @throws {Error} the file cannot be read: trust must not be guessed */
function upstreamOf(
  { upstreamCertificates: file }: SecretDoorParts["policy"],
  { cwd, homeDirectory }: SecretDoorParts["places"],
): readonly string[] | undefined {
  if (file === "") return undefined;
  const path = settingPath(file, { cwd: cwd(), homeDirectory });
  return [systemBundle(), readFileSync(path, "utf8")];
}

import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rootCertificates } from "node:tls";
import { type SandboxPolicy, settingPath } from "../policy/sandbox-settings.ts";
import { createAuthority } from "./authority.ts";
import type { SandboxNetworkDoor } from "./network-door.ts";
import { type DoorPlace, openDoor } from "./open-door.ts";
import type { ProxyRules } from "./proxy.ts";
import { SecretGate } from "./secret-gate.ts";
import type { SessionSecrets } from "./session-secrets.ts";

/** By which programs find the authorities that they believe. */
const certificateVariables = [
  ...["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"],
  ...["GIT_SSL_CAINFO", "PIP_CERT", "CARGO_HTTP_CAINFO", "AWS_CA_BUNDLE", "DENO_CERT"],
];

/** Where systems keep what they believe. */
const systemBundles = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/ca-bundle.pem",
  "/etc/ssl/cert.pem",
];

interface SecretDoorParts extends Omit<ProxyRules, "secrets"> {
  readonly secrets: SessionSecrets;
  readonly policy: SandboxPolicy;
  readonly places: { readonly cwd: () => string; readonly homeDirectory: string };
}

/** A door whose proxy ends TLS for the hosts of secrets, and tells commands whom to believe. */
export async function openSecretDoor(
  place: DoorPlace,
  { secrets, domains, closedPorts, policy, places }: SecretDoorParts,
): Promise<SandboxNetworkDoor> {
  const authority = await createAuthority(secrets.hosts.map(({ name }) => name));
  const upstreamAuthorities = upstreamOf(policy, places);
  const gate = new SecretGate({ secrets, authority, upstreamAuthorities, closedPorts });
  const door = await openDoor(place, { domains, closedPorts, secrets: gate });
  const bundle = join(place.folder, "certificates.pem");
  writeFileSync(bundle, `${systemBundle()}\n${authority.certificate}\n`);
  chmodSync(bundle, 0o444);
  const named = Object.fromEntries(certificateVariables.map((name) => [name, bundle]));
  return {
    ...door,
    files: [...door.files, bundle],
    variables: { ...door.variables, ...named, NODE_USE_ENV_PROXY: "1" },
  };
}

function systemBundle(): string {
  for (const path of systemBundles) {
    try {
      return readFileSync(path, "utf8");
    } catch {
      // Another system's.
    }
  }
  return rootCertificates.join("\n");
}

/** @throws {Error} the file cannot be read: whom to believe must not be guessed */
function upstreamOf(
  { upstreamCertificates: file }: SandboxPolicy,
  { cwd, homeDirectory }: SecretDoorParts["places"],
): readonly string[] | undefined {
  if (file === "") return undefined;
  const path = settingPath(file, { cwd: cwd(), homeDirectory });
  return [systemBundle(), readFileSync(path, "utf8")];
}

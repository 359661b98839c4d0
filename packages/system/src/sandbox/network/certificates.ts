import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rootCertificates } from "node:tls";
import type { SandboxNetworkDoor } from "./network-door.ts";

/** Variables in which programs look for their trusted authorities. */
const certificateVariables = [
  ...["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"],
  ...["GIT_SSL_CAINFO", "PIP_CERT", "CARGO_HTTP_CAINFO", "AWS_CA_BUNDLE", "DENO_CERT"],
];

/** Where systems keep their trusted authorities. */
const systemBundles = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/ca-bundle.pem",
  "/etc/ssl/cert.pem",
];

/** A door whose commands also trust a certificate; writes a bundle for them into a folder. */
export function trusting(
  door: SandboxNetworkDoor,
  folder: string,
  certificate: string,
): SandboxNetworkDoor {
  const bundle = join(folder, "certificates.pem");
  writeFileSync(bundle, `${systemBundle()}\n${certificate}\n`);
  chmodSync(bundle, 0o444);
  const named = Object.fromEntries(certificateVariables.map((name) => [name, bundle]));
  return {
    ...door,
    files: [...door.files, bundle],
    variables: { ...door.variables, ...named, NODE_USE_ENV_PROXY: "1" },
  };
}

/** The authorities that the system itself trusts. */
export function systemBundle(): string {
  for (const path of systemBundles) {
    try {
      return readFileSync(path, "utf8");
    } catch {
      // The bundle of a different system.
    }
  }
  return rootCertificates.join("\n");
}

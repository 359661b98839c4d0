import "reflect-metadata";
import { isIP } from "node:net";
import { createSecureContext, type SecureContext } from "node:tls";
import { AsnConvert, OctetString } from "@peculiar/asn1-schema";
import { GeneralName, GeneralSubtree, GeneralSubtrees, NameConstraints } from "@peculiar/asn1-x509";
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  type X509Certificate,
  X509CertificateGenerator,
} from "@peculiar/x509";

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const DAY_MS = 24 * 60 * 60 * 1000;
/** Valid from a day ago, for clocks that are slightly behind. */
const BEFORE_MS = DAY_MS;
/** Longer than a session lives, and short enough for clients that limit the lifetime. */
const AFTER_MS = 90 * DAY_MS;

const makeKeys = (isExported: boolean) =>
  crypto.subtle.generateKey(algorithm, isExported, ["sign", "verify"]);
type Keys = Awaited<ReturnType<typeof makeKeys>>;

/** Certifies the proxy as the hosts, for the commands of one session. */
export interface Authority {
  /** Its certificate, as PEM. */
  readonly certificate: string;
  /** @param host one of the authority's hosts */
  contextFor(host: string): Promise<SecureContext>;
}

/** Creates an authority with its key only in memory, which can certify only these hosts. */
export async function createAuthority(hosts: readonly string[]): Promise<Authority> {
  const keys = await makeKeys(false);
  const own = await X509CertificateGenerator.createSelfSigned({
    name: "CN=Tau sandbox (this session only)",
    keys,
    signingAlgorithm: algorithm,
    serialNumber: serialNumber(),
    ...validity(),
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
      nameConstraints(hosts),
    ],
  });
  const contexts = new Map<string, Promise<SecureContext>>();
  return {
    certificate: own.toString("pem"),
    contextFor: (host) => {
      const known = contexts.get(host) ?? contextOf(host, own, keys.privateKey);
      contexts.set(host, known);
      return known;
    },
  };
}

async function contextOf(
  host: string,
  issuer: X509Certificate,
  signingKey: Keys["privateKey"],
): Promise<SecureContext> {
  const keys = await makeKeys(true);
  const certificate = await X509CertificateGenerator.create({
    subject: "CN=Tau sandbox",
    issuer: issuer.subject,
    publicKey: keys.publicKey,
    signingKey,
    signingAlgorithm: algorithm,
    serialNumber: serialNumber(),
    ...validity(),
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension([{ type: isIP(host) ? "ip" : "dns", value: host }]),
      await AuthorityKeyIdentifierExtension.create(issuer.publicKey),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  const exported = Buffer.from(await crypto.subtle.exportKey("pkcs8", keys.privateKey));
  const key = `-----BEGIN PRIVATE KEY-----\n${exported.toString("base64")}\n-----END PRIVATE KEY-----\n`;
  return createSecureContext({ key, cert: certificate.toString("pem"), minVersion: "TLSv1.2" });
}

function validity(): { readonly notBefore: Date; readonly notAfter: Date } {
  const now = Date.now();
  return { notBefore: new Date(now - BEFORE_MS), notAfter: new Date(now + AFTER_MS) };
}

function serialNumber(): string {
  return `01${Buffer.from(crypto.getRandomValues(new Uint8Array(15))).toString("hex")}`;
}

/** Critical: a client that trusts the authority trusts it for these names only. */
function nameConstraints(hosts: readonly string[]): Extension {
  const permitted = [...new Set(hosts)].map((host) => {
    const base =
      isIP(host) === 0
        ? new GeneralName({ dNSName: host })
        : new GeneralName({ iPAddress: new OctetString(addressAndMask(host)) as never });
    return new GeneralSubtree({ base });
  });
  const constraints = new NameConstraints({ permittedSubtrees: new GeneralSubtrees(permitted) });
  return new Extension("2.5.29.30", true, AsnConvert.serialize(constraints));
}

/** The form in certificates: the address, followed by as many 0xff bytes. */
function addressAndMask(host: string): Uint8Array<ArrayBuffer> {
  const bytes = isIP(host) === 4 ? host.split(".").map(Number) : bytesOfIp6(host);
  return new Uint8Array([...bytes, ...bytes.map(() => 0xff)]);
}

function bytesOfIp6(host: string): number[] {
  const [head = "", tail] = host.split("::");
  const words = (part: string) => (part === "" ? [] : part.split(":"));
  const missing = 8 - words(head).length - words(tail ?? "").length;
  const gap = tail === undefined ? [] : new Array<string>(missing).fill("0");
  return [...words(head), ...gap, ...words(tail ?? "")].flatMap((word) => {
    const value = Number.parseInt(word, 16);
    return [value >> 8, value & 0xff];
  });
}

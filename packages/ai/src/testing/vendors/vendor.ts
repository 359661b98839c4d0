import type { JsonObject } from "@tau-agent/rpc-protocol/plain";
import { type SignedRequest, signatureFault } from "../aws-signature.ts";
import type { LoopbackCredentials } from "../credentials.ts";
import type { LoopbackApi } from "../loopback-api.ts";
import type { RuleRequest } from "../rules/rule.ts";

/** A header that contains a key, and the text before the key. */
export interface KeyPlace {
  readonly header: string;
  readonly scheme?: "Bearer" | undefined;
}

/** What an endpoint refuses in addition to its wire format's rules; a generator of errors. */
export type VendorRule = (request: RuleRequest) => Iterable<string>;

/** What users of a cloud have configured, besides an address and a key. */
export type VendorSetUp = "AWS keys" | "application default credentials" | "dated API version";

/** An endpoint as its vendor documents it; written independently of our requests, to check them. */
export interface Vendor {
  readonly provider: string;
  readonly api: LoopbackApi;
  /** What its users have configured, if it differs between users. */
  readonly setUp?: VendorSetUp | undefined;
  /** The complete URL of a request; `{model}` is replaced by the model's id, `{region}` by an AWS region. */
  readonly url: string;
  /** Each of these places must contain the key. If there are none, requests must be signed for AWS. */
  readonly keys: readonly KeyPlace[];
  readonly rules: readonly VendorRule[];
  /** Whether a request asks for thinking, in the endpoint's format. */
  readonly thinks: (body: JsonObject) => boolean;
}

/** The header in which {@link loopbackFetch} tells a server the original address of a request. */
export const hostHeader = "x-loopback-host";

export interface VendorDenial {
  readonly status: 401 | 403 | 404;
  readonly message: string;
}

/** A request as the vendor receives it. */
type VendorRequest = Omit<SignedRequest, "api">;

const keyHeaders = ["authorization", "x-api-key", "x-goog-api-key", "api-key"];

/** Why a vendor refuses a request: it was sent elsewhere, or without the key. */
export function vendorDenial(
  vendor: Vendor,
  { key, aws }: LoopbackCredentials,
  request: VendorRequest,
): VendorDenial | undefined {
  const { path, headers } = request;
  const host = String(headers[hostHeader]);
  const place = `${host}${path}`;
  const [found] = urlPattern(vendor.url).exec(place) ?? [];
  if (found === undefined) return { status: 404, message: `Nothing is served at ${place}` };
  if (vendor.keys.length === 0) {
    const signed = { ...request, api: vendor.api, headers: { ...headers, host } };
    const [, region] = /^[^.]+\.([a-z0-9-]+)\./.exec(host) ?? [];
    const message = aws && signatureFault(signed, { ...aws, region });
    return message === undefined ? undefined : { status: 403, message };
  }
  for (const { header, scheme } of key === undefined ? [] : vendor.keys) {
    const wanted = scheme === undefined ? key : `${scheme} ${key}`;
    if (headers[header] !== wanted) return { status: 401, message: `No valid key in ${header}` };
  }
  const others = keyHeaders.filter((name) => vendor.keys.every(({ header }) => header !== name));
  const leaked = others.find((name) => headers[name] !== undefined && mayLeak(vendor, name));
  return leaked === undefined ? undefined : { status: 401, message: `Unexpected key in ${leaked}` };
}

/** Matches host and path of requests. */
function urlPattern(url: string): RegExp {
  const literal = url.replace(/^https:\/\//, "").replace(/[.*+?^$()|[\]\\]/g, "\\$&");
  return new RegExp(`^${literal.replace("{model}", ".+").replace("{region}", "[a-z0-9-]+")}$`);
}

/** Servers of Anthropic's format other than Anthropic's own accept a key in either place. */
function mayLeak({ api }: Vendor, header: string): boolean {
  return !(api === "anthropic-messages" && header === "authorization");
}

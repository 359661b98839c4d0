import type { LoopbackApi } from "../loopback-api.ts";
import type { RuleRequest } from "../rules/rule.ts";
import type { JsonObject } from "../wire/json.ts";

/** A header that holds a key, and what comes before the key in it. */
export interface KeyPlace {
  readonly header: string;
  readonly scheme?: "Bearer" | undefined;
}

/** What an endpoint refuses besides what its wire format does; a generator of complaints. */
export type VendorRule = (request: RuleRequest) => Iterable<string>;

/** An endpoint as its vendor documents it: the server's side, written without a look at requests. */
export interface Vendor {
  readonly provider: string;
  readonly api: LoopbackApi;
  /** The whole URL of a request; `{model}` stands for the model's id. */
  readonly url: string;
  /** Each of these places must hold the key. */
  readonly keys: readonly KeyPlace[];
  readonly rules: readonly VendorRule[];
  /** Whether a request asks for thinking, in the endpoint's words. */
  readonly thinks: (body: JsonObject) => boolean;
}

/** The header in which {@link loopbackFetch} tells a server where a request was going. */
export const hostHeader = "x-loopback-host";

/** Why a vendor does not let a request in. */
export interface VendorDenial {
  readonly status: 401 | 404;
  readonly message: string;
}

/** Why a vendor does not let a request in: it went elsewhere, or without the key. */
export function vendorDenial(
  vendor: Vendor,
  key: string | undefined,
  { path, headers }: Pick<RuleRequest, "path" | "headers">,
): VendorDenial | undefined {
  const place = `${String(headers[hostHeader])}${path}`;
  const [before = "", after = ""] = vendor.url.replace(/^https:\/\//, "").split("{model}");
  if (
    !place.startsWith(before) ||
    !place.endsWith(after) ||
    (!vendor.url.includes("{model}") && place !== before)
  ) {
    return { status: 404, message: `Nothing is served at ${place}` };
  }
  for (const { header, scheme } of key === undefined ? [] : vendor.keys) {
    const wanted = scheme === undefined ? key : `${scheme} ${key}`;
    if (headers[header] !== wanted) return { status: 401, message: `No valid key in ${header}` };
  }
  const others = ["authorization", "x-api-key", "x-goog-api-key"].filter((name) =>
    vendor.keys.every(({ header }) => header !== name),
  );
  const leaked = others.find((name) => headers[name] !== undefined && mayLeak(vendor, name));
  return leaked === undefined ? undefined : { status: 401, message: `Unexpected key in ${leaked}` };
}

/** Servers of Anthropic's format other than the vendor's take a key in either place. */
function mayLeak({ api }: Vendor, header: string): boolean {
  return !(api === "anthropic-messages" && header === "authorization");
}

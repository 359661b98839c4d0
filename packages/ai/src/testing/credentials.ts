import { type AwsKeys, type SignedRequest, signatureFault } from "./aws-signature.ts";
import type { LoopbackApi } from "./loopback-api.ts";

/** The credentials that a loopback server accepts. */
export interface LoopbackCredentials {
  /** The key, sent in the vendor's header. */
  readonly key?: string | undefined;
  /** A token, sent as a bearer token in any format. */
  readonly bearer?: string | undefined;
  /** A Google access token, sent as a bearer token to Vertex AI. */
  readonly googleToken?: string | undefined;
  /** AWS keys with which requests must be signed. */
  readonly aws?: AwsKeys | undefined;
}

interface Denial {
  readonly status: 401 | 403;
  readonly message: string;
}

const bearer = { header: "authorization", bearer: true, status: 401 } as const;
const wrongKey = { ...bearer, message: "Incorrect API key provided." } as const;
const wrongGoogleKey = {
  header: "x-goog-api-key",
  status: 401,
  message: "Request had invalid authentication credentials.",
} as const;

/** How each vendor accepts a key, and its error for a wrong one. */
const ways: Readonly<
  Record<LoopbackApi, { readonly header: string; readonly bearer?: true } & Denial>
> = {
  "anthropic-messages": { header: "x-api-key", status: 401, message: "invalid x-api-key" },
  "openai-completions": wrongKey,
  "openai-responses": wrongKey,
  "openai-codex-responses": {
    ...bearer,
    message: "Your authentication token is not valid. Please try signing in again.",
  },
  "google-generative-ai": {
    header: "x-goog-api-key",
    status: 403,
    message: "API key not valid. Please pass a valid API key.",
  },
  "bedrock-converse-stream": {
    ...bearer,
    status: 403,
    message: "The security token included in the request is invalid.",
  },
  "mistral-conversations": { ...bearer, message: "Unauthorized" },
  "google-vertex": wrongGoogleKey,
  "anthropic-vertex": wrongGoogleKey,
  "azure-openai-responses": {
    header: "api-key",
    status: 401,
    message:
      "Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key for an active subscription and use a correct regional API endpoint for your resource.",
  },
};

/** Why a request is refused; undefined if its credentials are valid or none are required. */
export function denialOf(
  request: SignedRequest,
  { credentials }: { readonly credentials?: LoopbackCredentials | undefined },
): Denial | undefined {
  if (credentials === undefined) return undefined;
  const { api, headers } = request;
  if (api === "bedrock-converse-stream" && credentials.aws !== undefined) {
    const why = signatureFault(request, credentials.aws);
    return why === undefined ? undefined : { status: 403, message: why };
  }
  if (api.endsWith("-vertex") && credentials.googleToken !== undefined) {
    const isRight = headers.authorization === `Bearer ${credentials.googleToken}`;
    return isRight ? undefined : ways[api];
  }
  const { header, bearer: isBearer, status, message } = ways[api];
  const { key, bearer: token } = credentials;
  if (token !== undefined && headers.authorization === `Bearer ${token}`) return undefined;
  const wanted = isBearer === true ? `Bearer ${key}` : key;
  return key !== undefined && headers[header] === wanted ? undefined : { status, message };
}

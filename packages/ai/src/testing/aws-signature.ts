import { createHash, createHmac } from "node:crypto";
import type { LoopbackApi } from "./loopback-api.ts";

export interface SignedRequest {
  readonly api: LoopbackApi;
  readonly method: string;
  readonly path: string;
  readonly search: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
  /** The region for which requests must be signed; by default, any. */
  readonly region?: string | undefined;
}

const form =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/bedrock\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/;

/** What is wrong with the signature (version 4) of a request, in AWS's words; undefined if it is valid. */
export function signatureFault(request: SignedRequest, keys: AwsKeys): string | undefined {
  const given = textOf(request, "authorization");
  const [, id, day = "", region = "", names = "", signature] = form.exec(given) ?? [];
  if (signature === undefined) return "Missing Authentication Token";
  if (
    id !== keys.accessKeyId ||
    textOf(request, "x-amz-security-token") !== (keys.sessionToken ?? "")
  ) {
    return "The security token included in the request is invalid.";
  }
  if (keys.region !== undefined && region !== keys.region) {
    return `Credential should be scoped to a valid region: ${keys.region}.`;
  }
  const scope = `${day}/${region}/bedrock/aws4_request`;
  const hashed = [
    "AWS4-HMAC-SHA256",
    textOf(request, "x-amz-date"),
    scope,
    sha256(canonical(request, names)),
  ].join("\n");
  const steps = [day, region, "bedrock", "aws4_request", hashed];
  const key = steps.reduce<Buffer>(hmac, Buffer.from(`AWS4${keys.secretAccessKey}`));
  if (key.toString("hex") === signature) return undefined;
  return "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method.";
}

function canonical(request: SignedRequest, names: string): string {
  const { method, path, search, body } = request;
  const query = [...new URLSearchParams(search)].map((pair) => pair.map(encode).join("="));
  const headers = names.split(";").map((name) => `${name}:${textOf(request, name).trim()}\n`);
  // AWS encodes the path of the request a second time.
  const twice = path.split("/").map(encode).join("/");
  return [method, twice, query.sort().join("&"), headers.join(""), names, sha256(body)].join("\n");
}

function textOf({ headers }: SignedRequest, name: string): string {
  return [headers[name] ?? ""].flat().join(",");
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

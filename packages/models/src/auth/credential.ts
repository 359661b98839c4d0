import { isJsonObject } from "@tau-agent/rpc-protocol/plain";

/** A key as stored in auth.json; `key` may be a template or a command. */
interface ApiKeyCredential {
  readonly type: "api_key";
  /** Empty if the entry consists only of variables. */
  readonly key: string;
  /** Variables for the provider's requests, which override those of the host; resolved like keys. */
  readonly env?: Readonly<Record<string, string>>;
  readonly [member: string]: unknown;
}

/** Tokens of a login; a vendor's own members are kept unchanged. */
export interface OAuthCredential {
  readonly type: "oauth";
  readonly refresh: string;
  readonly access: string;
  /** Epoch time in ms. */
  readonly expires: number;
  readonly [member: string]: unknown;
}

export type Credential = ApiKeyCredential | OAuthCredential;

/** A header cannot contain other characters, and the error about them would show the token. */
const sendable = /^[\x21-\x7e]+$/;

function isVariables(value: unknown): boolean {
  return isJsonObject(value) && Object.values(value).every((text) => typeof text === "string");
}

/** Adds an empty key to an entry that consists only of variables. */
export function withKey(value: unknown): unknown {
  const hasOnlyVariables =
    isJsonObject(value) && value.key === undefined && isJsonObject(value.env);
  return hasOnlyVariables ? { ...value, key: "" } : value;
}

export function isCredential(value: unknown): value is Credential {
  if (!isJsonObject(value)) return false;
  const { type, key, env, access, expires } = value;
  if (type === "api_key") {
    return typeof key === "string" && (env === undefined || isVariables(env));
  }
  return (
    type === "oauth" &&
    typeof access === "string" &&
    sendable.test(access) &&
    typeof expires === "number"
  );
}

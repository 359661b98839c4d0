import { existsSync } from "node:fs";
import type { BedrockRuntimeClientConfig } from "@aws-sdk/client-bedrock-runtime";
import type { Environment, StreamOptions } from "../provider.ts";
import { createFetchHandler } from "./fetch-handler.ts";
import { profileFiles, readProfile } from "./region.ts";

type Fetch = typeof globalThis.fetch;

/** The part of the SDK's configuration that identifies the caller. */
type Identity = Pick<
  BedrockRuntimeClientConfig,
  "authSchemePreference" | "credentials" | "token" | "signer"
>;

/**
 * How a request identifies the caller: with a bearer key, with a signature, or anonymously on a server
 * without authentication.
 */
export async function identityOf(
  { apiKey, environment = {} }: StreamOptions,
  place: { readonly endpoint: string; readonly region: string },
  fetch: Fetch,
): Promise<Identity> {
  if (apiKey) return { token: { token: apiKey }, authSchemePreference: ["httpBearerAuth"] };
  if (isUnsigned(environment, place.endpoint)) {
    const nobody = { accessKeyId: "none", secretAccessKey: "none" };
    return {
      credentials: nobody,
      signer: async () => ({ sign: async (request) => request }),
      authSchemePreference: ["sigv4"],
    };
  }
  return {
    credentials: await chainOf(environment, place.region, fetch),
    authSchemePreference: ["sigv4"],
  };
}

const named = [
  ...["AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE"],
  ...["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"],
];

/**
 * Whether requests stay unsigned: on a gateway that signs them itself, or on a local server if the user has
 * no credentials at all.
 */
function isUnsigned(environment: Environment, endpoint: string): boolean {
  if (environment.AWS_BEDROCK_SKIP_AUTH === "1") return true;
  const { hostname } = new URL(endpoint);
  const isLocal = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
  if (!isLocal || named.some((name) => environment[name])) return false;
  const { filepath, configFilepath } = profileFiles(environment);
  return !existsSync(filepath) && !existsSync(configFilepath);
}

type Aws = typeof import("@aws-sdk/credential-providers");
type Link = ReturnType<Aws["fromIni"]>;
type ClientConfig = NonNullable<NonNullable<Parameters<Aws["fromIni"]>[0]>["clientConfig"]>;

/** Credentials of the selected profile, in any form that a profile supports. */
function profileLink(
  aws: Aws,
  environment: Environment,
  { region, ...clientConfig }: ClientConfig,
): Link {
  const named = {
    ...profileFiles(environment),
    ignoreCache: true,
    // A single sign-on or a role has its own region; ours is for profiles without one.
    clientConfig,
    parentClientConfig: { region, ...clientConfig },
  };
  return async (given) => {
    // `fromIni` looks for single sign-on in the files named by the process's own variables.
    const isSignOn = await isSingleSignOn(environment);
    return (isSignOn ? aws.fromSSO(named) : aws.fromIni(named))(given);
  };
}

/** Members that take precedence over single sign-on in a profile with both. */
const strongerMembers = [
  ...["role_arn", "aws_access_key_id", "web_identity_token_file", "credential_process"],
];

async function isSingleSignOn(environment: Environment): Promise<boolean> {
  const found = await readProfile(environment);
  const names = Object.keys(found).filter((name) => found[name] !== undefined);
  return (
    names.some((name) => name.startsWith("sso_")) &&
    !names.some((name) => strongerMembers.includes(name))
  );
}

/**
 * The AWS credential chain, built from the given variables, because the SDK's own chain reads those of the
 * process. Fetches tokens of roles and logins through the user's proxy.
 */
async function chainOf(
  environment: Environment,
  region: string,
  fetch: Fetch,
): Promise<NonNullable<Identity["credentials"]>> {
  const aws = await import("@aws-sdk/credential-providers");
  const requestHandler = createFetchHandler(fetch, "whole");
  const clientConfig = { region, requestHandler };
  // Some providers read one of these members, some the other.
  const clients = { clientConfig, parentClientConfig: clientConfig };
  const fromProfile = profileLink(aws, environment, clientConfig);
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = environment;
  // An explicitly named profile takes precedence over keys in the environment.
  if (environment.AWS_PROFILE) return fromProfile;
  if (accessKeyId && secretAccessKey) {
    const sessionToken = environment.AWS_SESSION_TOKEN;
    return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
  }
  const links: Link[] = [fromProfile];
  const { AWS_WEB_IDENTITY_TOKEN_FILE: webIdentityTokenFile, AWS_ROLE_ARN: roleArn } = environment;
  if (webIdentityTokenFile && roleArn) {
    const roleSessionName = environment.AWS_ROLE_SESSION_NAME || "tau";
    links.push(aws.fromTokenFile({ webIdentityTokenFile, roleArn, roleSessionName, ...clients }));
  }
  const relative = environment.AWS_CONTAINER_CREDENTIALS_RELATIVE_URI;
  const full = environment.AWS_CONTAINER_CREDENTIALS_FULL_URI;
  if (relative || full) {
    const token = environment.AWS_CONTAINER_AUTHORIZATION_TOKEN;
    const tokenFile = environment.AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE;
    links.push(
      aws.fromHttp({
        ...(relative
          ? { awsContainerCredentialsRelativeUri: relative }
          : { awsContainerCredentialsFullUri: full ?? "" }),
        ...(token && { awsContainerAuthorizationToken: token }),
        ...(tokenFile && { awsContainerAuthorizationTokenFile: tokenFile }),
      }),
    );
  } else if (environment.AWS_EC2_METADATA_DISABLED?.toLowerCase() !== "true") {
    links.push(aws.fromInstanceMetadata({ timeout: 1_000, maxRetries: 0 }));
  }
  return aws.createCredentialChain(...links);
}

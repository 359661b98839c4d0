import { homedir } from "node:os";
import { join } from "node:path";
import type { Model } from "@tau-agent/rpc-protocol/messages";
import type { Environment } from "../provider.ts";

export interface ProfileFiles {
  readonly profile: string;
  readonly filepath: string;
  readonly configFilepath: string;
}

/** An endpoint and the region for which its requests are signed. */
export interface BedrockPlace {
  readonly endpoint: string;
  readonly region: string;
}

const standardHost = /^bedrock-runtime\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?$/;
const regionInHost = /\bbedrock-runtime(?:-fips)?\.([a-z]{2}(?:-[a-z]+)+-\d)\./;
const regionInArn = /^arn:[^:]+:bedrock:([a-z0-9-]+):/;
const lastResort = "us-east-1";

/**
 * A region for each geography, by the prefix of its models' ids, which are not available elsewhere.
 * Catalogues list the address of `us-east-1` for most of these models.
 */
const geographies: Readonly<Record<string, string>> = {
  apac: "ap-northeast-1",
  au: "ap-southeast-2",
  ca: "ca-central-1",
  eu: "eu-central-1",
  in: "ap-south-1",
  jp: "ap-northeast-1",
  "us-gov": "us-gov-west-1",
};

export function profileFiles(environment: Environment): ProfileFiles {
  const set = (name: string) => environment[name]?.trim() || undefined;
  const folder = join(set("HOME") ?? set("USERPROFILE") ?? homedir(), ".aws");
  return {
    profile: set("AWS_PROFILE") ?? set("AWS_DEFAULT_PROFILE") ?? "default",
    filepath: set("AWS_SHARED_CREDENTIALS_FILE") ?? join(folder, "credentials"),
    configFilepath: set("AWS_CONFIG_FILE") ?? join(folder, "config"),
  };
}

/**
 * The region of a request. In order of precedence: the region in the model's ARN (which exists nowhere else),
 * the environment, the profile, and the base URL. If the address is AWS's own, it is adapted to the region;
 * any other is kept.
 */
export async function placeOf(
  { id, baseUrl }: Pick<Model, "id" | "baseUrl">,
  environment: Environment,
): Promise<BedrockPlace> {
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : "";
  const region =
    regionInArn.exec(id)?.[1] ??
    regionIn(environment) ??
    (await regionOfProfile(environment)) ??
    catalogueRegion(id, baseUrl) ??
    regionInHost.exec(host)?.[1] ??
    lastResort;
  return { region, endpoint: endpointOf(baseUrl, environment, region) };
}

/** The address for requests, as far as it can be known without the user's profile. */
export function addressOf({ id, baseUrl }: Model, environment: Environment): string {
  const region = regionInArn.exec(id)?.[1] ?? regionIn(environment) ?? catalogueRegion(id, baseUrl);
  return region ? endpointOf(baseUrl, environment, region) : baseUrl;
}

/** The region in AWS's own address, or a region of the model's geography if that one is outside it. */
function catalogueRegion(id: string, baseUrl: string): string | undefined {
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : "";
  const region = standardHost.exec(host)?.[1];
  const prefix = id.split(".", 1)[0] ?? "";
  const home = Object.hasOwn(geographies, prefix) ? geographies[prefix] : undefined;
  const isThere = home === undefined || partition(home) === partition(region ?? "");
  return region === undefined || isThere ? region : home;
}

/** The prefix of a geography's regions, such as `eu` and `us-gov`. */
function partition(region: string): string {
  return region.replace(/-[a-z]+-\d+$/, "");
}

function regionIn({ AWS_REGION, AWS_DEFAULT_REGION }: Environment): string | undefined {
  return AWS_REGION?.trim() || AWS_DEFAULT_REGION?.trim() || undefined;
}

function endpointOf(baseUrl: string, environment: Environment, region: string): string {
  const isOwn = URL.canParse(baseUrl) && !standardHost.test(new URL(baseUrl).hostname);
  if (isOwn) return baseUrl.replace(/\/+$/, "");
  // The service's variable takes precedence over the general one, as in AWS's own tools.
  const { AWS_ENDPOINT_URL_BEDROCK_RUNTIME, AWS_ENDPOINT_URL } = environment;
  const named = AWS_ENDPOINT_URL_BEDROCK_RUNTIME?.trim() || AWS_ENDPOINT_URL?.trim();
  if (named) return named.replace(/\/+$/, "");
  const suffix = region.startsWith("cn-") ? ".cn" : "";
  return `https://bedrock-runtime.${region}.amazonaws.com${suffix}`;
}

async function regionOfProfile(environment: Environment): Promise<string | undefined> {
  return (await readProfile(environment)).region || undefined;
}

/** The members of the selected profile, merged from both files. */
export async function readProfile(
  environment: Environment,
): Promise<Readonly<Record<string, string | undefined>>> {
  const { profile, ...files } = profileFiles(environment);
  const { loadSharedConfigFiles } = await import("@smithy/core/config");
  const { configFile, credentialsFile } = await loadSharedConfigFiles({
    ...files,
    // The file may change while the host runs.
    ignoreCache: true,
  });
  return { ...credentialsFile[profile], ...configFile[profile] };
}

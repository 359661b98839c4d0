import type { Model } from "@tau-agent/rpc-protocol/messages";
import { ProviderError } from "../errors.ts";
import type { Environment } from "../provider.ts";

export interface VertexPlace {
  /** Includes version, project and location; the publisher follows. */
  readonly baseUrl: string;
  /** Undefined if a key identifies it. */
  readonly project: string | undefined;
}

/** Locations that span several regions and have a different form of host name. */
const multiRegions: ReadonlySet<string> = new Set(["us", "eu"]);
const googleHost = /(?:^|[.-])aiplatform(?:\.[a-z]+\.rep)?\.googleapis\.com$/;

/**
 * The place for a request. Google's own address is adapted to the location; any other is kept, and gets the
 * version if it has no path. A key belongs to its own project, so no project is included with it.
 *
 * @throws {ProviderError} `invalid_request` with what to set
 */
export function vertexPlace(
  model: Pick<Model, "id" | "baseUrl">,
  environment: Environment,
  apiKey: string | undefined,
): VertexPlace {
  const { project, location } = projectOf(environment);
  const base = addressOf(model.baseUrl, location);
  const isOwn = URL.canParse(model.baseUrl) && !isGoogles(model.baseUrl);
  const isNamed = new URL(base).pathname.includes("/projects/");
  if (apiKey || isNamed || (isOwn && (!project || !location))) {
    const key = apiKey && !isOwn ? "https://aiplatform.googleapis.com/v1" : base;
    return { baseUrl: key, project };
  }
  if (project && location) {
    const path = `projects/${encodeURIComponent(project)}/locations/${encodeURIComponent(location)}`;
    return { baseUrl: `${base}/${path}`, project };
  }
  throw new ProviderError({
    code: "auth",
    message: `Vertex AI needs a project and a location for ${model.id}. Set GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION, or GOOGLE_CLOUD_API_KEY.`,
  });
}

/** The address for requests, without project and publisher. */
export function vertexAddress(
  { baseUrl }: Pick<Model, "baseUrl">,
  environment: Environment,
): string {
  return addressOf(baseUrl, projectOf(environment).location);
}

function addressOf(baseUrl: string, location = "global"): string {
  const isOwn = URL.canParse(baseUrl) && !isGoogles(baseUrl);
  if (isOwn) return new URL(baseUrl).pathname === "/" ? `${trimmed(baseUrl)}/v1` : trimmed(baseUrl);
  return `https://${hostOf(location)}/v1`;
}

function hostOf(location: string): string {
  if (location === "global") return "aiplatform.googleapis.com";
  if (multiRegions.has(location)) return `aiplatform.${location}.rep.googleapis.com`;
  return `${location}-aiplatform.googleapis.com`;
}

function isGoogles(baseUrl: string): boolean {
  return baseUrl.includes("{location}") || googleHost.test(new URL(baseUrl).hostname);
}

function trimmed(baseUrl: string): string {
  return baseUrl.replace(/\/+$/, "");
}

function projectOf(environment: Environment) {
  const set = (name: string) => environment[name]?.trim() || undefined;
  return {
    project: set("GOOGLE_CLOUD_PROJECT") ?? set("GCLOUD_PROJECT"),
    location: set("GOOGLE_CLOUD_LOCATION"),
  };
}

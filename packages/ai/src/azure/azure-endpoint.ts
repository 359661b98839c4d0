import type { Model } from "@tau-agent/rpc-protocol/messages";
import { ProviderError } from "../errors.ts";
import type { Environment, StreamOptions } from "../provider.ts";

export interface AzureEndpoint {
  readonly baseUrl: string;
  /** The path after the base URL; includes the API version as a query if the path does not contain one. */
  readonly path: string;
  /** The headers in which Azure accepts the key. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Paths of a resource address that contain no version. */
const roots: ReadonlySet<string> = new Set(["", "/openai"]);
const dated = /^\d{4}-\d{2}-\d{2}/;

/**
 * The endpoint for an operation such as `/responses`. Resource addresses get the path of the `v1` API. A
 * dated version selects the older paths, in which only chat completions name the deployment.
 */
export function azureEndpoint(
  model: Model,
  operation: "/responses" | "/chat/completions",
  { environment = {}, apiKey }: StreamOptions,
): AzureEndpoint {
  const given = azureAddress(model, environment);
  if (given === undefined) {
    throw new ProviderError({
      code: "invalid_request",
      message: `The address of the Azure resource for ${model.id} is not known. Set AZURE_OPENAI_BASE_URL or AZURE_OPENAI_RESOURCE_NAME, or baseUrl of "${model.provider}" in models.json.`,
    });
  }
  const url = new URL(given);
  const path = url.pathname.replace(/\/+$/, "");
  const version = environment.AZURE_OPENAI_API_VERSION?.trim() || "v1";
  const headers: Record<string, string> = apiKey ? { "api-key": apiKey } : {};
  const query = `?api-version=${encodeURIComponent(version)}`;
  if (dated.test(version)) {
    const base = path.replace(/\/v1$/, "");
    const baseUrl = `${url.origin}${roots.has(base) ? "/openai" : base}`;
    const isNamed = operation === "/responses" || base.includes("/deployments/");
    const deployment = `/deployments/${encodeURIComponent(deploymentOf(model, environment))}`;
    return { baseUrl, path: `${isNamed ? "" : deployment}${operation}${query}`, headers };
  }
  const baseUrl = `${url.origin}${roots.has(path) ? "/openai/v1" : path}`;
  return { baseUrl, path: `${operation}${version === "v1" ? "" : query}`, headers };
}

/** The address that the user has configured; undefined if there is none. */
export function azureAddress({ baseUrl }: Model, environment: Environment): string | undefined {
  const resource = environment.AZURE_OPENAI_RESOURCE_NAME?.trim();
  const named = resource ? `https://${resource}.openai.azure.com` : undefined;
  const given = baseUrl || environment.AZURE_OPENAI_BASE_URL?.trim() || named;
  return given !== undefined && URL.canParse(given) ? given : undefined;
}

/** Whether a model is a deployment on Azure, whatever its wire format. */
export function isAzure({ provider }: Pick<Model, "provider">): boolean {
  return provider === "azure";
}

/** The deployment of a model: its id, unless AZURE_OPENAI_DEPLOYMENT_NAME_MAP says otherwise. */
export function deploymentOf({ id }: Pick<Model, "id">, environment: Environment = {}): string {
  const pairs = (environment.AZURE_OPENAI_DEPLOYMENT_NAME_MAP ?? "").split(",");
  for (const pair of pairs) {
    const at = pair.indexOf("=");
    const deployment = pair.slice(at + 1).trim();
    if (at > 0 && pair.slice(0, at).trim() === id && deployment !== "") return deployment;
  }
  return id;
}

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { listProviders } from "@tau-agent/ai";
import {
  type LoopbackCredentials,
  type LoopbackServer,
  loopbackFetch,
  type Vendor,
  type VendorSetUp,
} from "@tau-agent/ai/testing";
import { builtInCatalog, createModelRegistry, type ModelRegistry } from "@tau-agent/models";
import { ProcessRegistry } from "@tau-agent/system";

/** A user with an account at a vendor, and the files and variables for it. */
export interface User {
  readonly registry: ModelRegistry;
  /** What the vendor knows of the user. */
  readonly credentials: LoopbackCredentials;
  /** Redirects requests from the vendor to a server that stands in for its endpoint. */
  readonly fetchTo: (server: LoopbackServer) => typeof globalThis.fetch;
}

const key = "the-key-of-a-user";
const googleToken = "a-token-of-google";
const aws = {
  accessKeyId: "AKIAMATRIX",
  secretAccessKey: "secret/+=",
  sessionToken: "session",
};

const hour = 3_600_000;
const login = { type: "oauth", refresh: "refresh", expires: Date.now() + 24 * hour };
/** Logins in pi's format. */
const logins = {
  "github-copilot": { ...login, access: "tid=1;proxy-ep=proxy.business.githubcopilot.com;sku=x" },
  "openai-codex": { ...login, access: "opaque", accountId: "acct-1" },
} as const;

/** Whether a provider's users log in. */
function isPlan(provider: string): provider is keyof typeof logins {
  return Object.hasOwn(logins, provider);
}

/** Claude on Vertex AI is not in the catalogue; users configure the models of their project. */
const claudeOnVertex = ["Claude Sonnet 4.5", "Claude Sonnet 5.5"].map((name) => ({
  id: `${name.toLowerCase().replace(/[ .]/g, "-")}@20260101`,
  name,
  api: "anthropic-vertex",
  baseUrl: "https://{location}-aiplatform.googleapis.com",
  reasoning: true,
}));

/** A user for each way to configure a provider, with files in folders below `root`. */
export function createUsers(root: string): (vendor: Vendor) => User {
  const users = new Map<string, User>();
  return (vendor) => {
    const { provider } = vendor;
    const setUp = vendor.setUp ?? "key";
    const id = isPlan(provider) ? provider : setUp;
    const known = users.get(id) ?? createUser(root, id, setUp);
    users.set(id, known);
    return known;
  };
}

function createUser(root: string, id: string, setUp: VendorSetUp | "key"): User {
  const agentDirectory = join(root, id.replaceAll(" ", "-"));
  mkdirSync(agentDirectory);
  const put = (name: string, value: unknown): string => {
    const path = join(agentDirectory, name);
    writeFileSync(path, JSON.stringify(value), { mode: 0o600 });
    return path;
  };
  put("auth.json", logins);
  put("models.json", { providers: { "google-vertex": { models: claudeOnVertex } } });
  const registry = createModelRegistry({
    agentDirectory,
    processes: new ProcessRegistry(),
    catalog: builtInCatalog(),
    environment: {
      ...{ CLOUDFLARE_ACCOUNT_ID: "account", CLOUDFLARE_GATEWAY_ID: "gateway" },
      ...{ AZURE_OPENAI_RESOURCE_NAME: "resource", HOME: agentDirectory },
      ...environmentOf(setUp, put),
    },
  });
  const takesKey = setUp === "key" || setUp === "dated API version";
  for (const provider of takesKey ? listProviders() : []) {
    if (!isPlan(provider.id)) registry.keys.setRuntimeKey(provider.id, key);
  }
  return { registry, credentials: credentialsOf(id, setUp), fetchTo };
}

function credentialsOf(id: string, setUp: VendorSetUp | "key"): LoopbackCredentials {
  if (isPlan(id)) return { key: logins[id].access };
  if (setUp === "AWS keys") return { aws };
  return { key: setUp === "application default credentials" ? googleToken : key };
}

function environmentOf(
  setUp: VendorSetUp | "key",
  put: (name: string, value: unknown) => string,
): Readonly<Record<string, string>> {
  switch (setUp) {
    case "key":
      return {};
    case "AWS keys":
      return {
        AWS_ACCESS_KEY_ID: aws.accessKeyId,
        AWS_SECRET_ACCESS_KEY: aws.secretAccessKey,
        AWS_SESSION_TOKEN: aws.sessionToken,
      };
    case "dated API version":
      return { AZURE_OPENAI_API_VERSION: "2025-04-01-preview" };
    case "application default credentials": {
      const own = { client_id: "id", client_secret: "s", refresh_token: "refresh-me" };
      const path = put("adc.json", { type: "authorized_user", ...own });
      const place = { GOOGLE_CLOUD_PROJECT: "project", GOOGLE_CLOUD_LOCATION: "europe-west1" };
      return { ...place, GOOGLE_APPLICATION_CREDENTIALS: path };
    }
  }
}

function fetchTo(server: LoopbackServer): typeof globalThis.fetch {
  const toServer = loopbackFetch(server);
  return async (input, init) => {
    const { host } = new URL(input instanceof Request ? input.url : input);
    if (host !== "oauth2.googleapis.com") return toServer(input, init);
    const isRight = String(init?.body).includes("refresh-me");
    const body = isRight ? { access_token: googleToken, expires_in: 3600 } : { error: "no" };
    return Response.json(body, { status: isRight ? 200 : 400 });
  };
}

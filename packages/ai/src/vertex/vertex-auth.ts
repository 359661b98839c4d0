import { statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { AuthClient } from "google-auth-library";
import { ProviderError } from "../errors.ts";
import type { Environment, StreamOptions } from "../provider.ts";
import { quietly } from "../quietly.ts";
import type { LastMade } from "../request/last-made.ts";

type Fetch = typeof globalThis.fetch;

const scope = "https://www.googleapis.com/auth/cloud-platform";

/** Placeholders that pi's files contain if there is no key. */
const noKeys: ReadonlySet<string> = new Set(["gcp-vertex-credentials", "<authenticated>"]);

export function keyOf({ apiKey }: StreamOptions): string | undefined {
  return apiKey && !noKeys.has(apiKey) ? apiKey : undefined;
}

export interface VertexAsk {
  readonly baseUrl: string;
  readonly options: StreamOptions;
  readonly fetch: Fetch;
  /** Keeps the client, and with it the token, until it expires. */
  readonly clients: LastMade;
}

/**
 * The authentication headers: a key, or a token from application default credentials. Google's library renews
 * the token through the same proxy.
 */
export async function vertexHeaders(ask: VertexAsk): Promise<Record<string, string>> {
  const { baseUrl, options } = ask;
  const key = keyOf(options);
  if (key !== undefined) return { "x-goog-api-key": key };
  const { environment = {} } = options;
  const file = credentialsFile(environment);
  if (file === undefined && isLocal(baseUrl)) return {};
  try {
    const client = await clientFor(ask, file);
    const { token } = await client.getAccessToken();
    const { quotaProjectId } = client;
    return {
      authorization: `Bearer ${token}`,
      ...(quotaProjectId && { "x-goog-user-project": quotaProjectId }),
    };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const isNetwork = /fetch failed|ECONN|ENOTFOUND|EAI_AGAIN|timeout/i.test(reason);
    throw new ProviderError({
      code: isNetwork && file !== undefined ? "network" : "auth",
      message: `Google's application default credentials cannot be used: ${reason}. Run gcloud auth application-default login, or set GOOGLE_APPLICATION_CREDENTIALS or GOOGLE_CLOUD_API_KEY.`,
      cause,
    });
  }
}

interface CredentialsFile {
  readonly path: string;
  /** A new login rewrites the file. */
  readonly modified: number;
}

/** The file with application default credentials; looked up each time, because a login may have created it. */
function credentialsFile(environment: Environment): CredentialsFile | undefined {
  const set = (name: string) => environment[name]?.trim() || undefined;
  const named = set("GOOGLE_APPLICATION_CREDENTIALS");
  const home = set("HOME") ?? set("USERPROFILE") ?? homedir();
  const roaming = set("APPDATA");
  const folder =
    set("CLOUDSDK_CONFIG") ??
    (process.platform === "win32" && roaming
      ? join(roaming, "gcloud")
      : join(home, ".config/gcloud"));
  const path = named ?? join(folder, "application_default_credentials.json");
  const modified = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  if (modified !== undefined) return { path, modified };
  if (named === undefined) return undefined;
  throw new ProviderError({
    code: "auth",
    message: `GOOGLE_APPLICATION_CREDENTIALS names ${named}, which does not exist.`,
  });
}

function clientFor(
  { fetch, clients }: VertexAsk,
  file: CredentialsFile | undefined,
): Promise<AuthClient> {
  return clients.get(["google-auth", file?.path, file?.modified, fetch], async () => {
    const { GoogleAuth, Compute } = await import("./google-auth.ts");
    // The machine's own service account; its token server is local and needs no proxy.
    if (file === undefined) return new Compute();
    const transporterOptions = { fetchImplementation: plainly(fetch) };
    const login = JSON.parse(await readFile(file.path, "utf8"));
    const auth = new GoogleAuth({ scopes: scope });
    const read = auth.fromJSON.bind(auth);
    // The credentials for impersonating another account contain a nested login, which the library reads
    // without options.
    auth.fromJSON = (json) => read(json, { transporterOptions });
    return quietly(() => auth.fromJSON(login));
  });
}

/** Converts arguments: the library passes classes of Node's own `fetch`, ours takes text. */
function plainly(fetch: Fetch): Fetch {
  return (input, { method, headers, body, signal } = {}) => {
    const text = typeof body === "string" || body instanceof URLSearchParams ? String(body) : body;
    return fetch(input instanceof Request ? input.url : input, {
      ...(method && { method }),
      ...(headers && { headers: Object.fromEntries(new Headers(headers)) }),
      ...(text && { body: text }),
      ...(signal && { signal }),
    });
  };
}

function isLocal(baseUrl: string): boolean {
  return /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(new URL(baseUrl).hostname);
}

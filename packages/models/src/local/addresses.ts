import type { Environment } from "@tau-agent/system";

const ollamaPort = "11434";

/** Where each kind of server listens unless told otherwise. */
function usualAddresses(environment: Environment): Readonly<Record<string, string>> {
  return {
    ollama: withPort(environment.OLLAMA_HOST?.trim() || "127.0.0.1", ollamaPort),
    "lm-studio": "http://127.0.0.1:1234",
    "llama.cpp": "http://127.0.0.1:8080",
    vllm: "http://127.0.0.1:8000",
  };
}

/**
 * The origins of the servers to ask: those in the setting, otherwise the usual ones, or the usual one of
 * a kind. Invalid addresses are left out.
 */
export function localOrigins(
  setting: readonly string[] | undefined,
  environment: Environment,
  kind?: string,
): readonly string[] {
  const usual = usualAddresses(environment);
  const own = kind !== undefined && Object.hasOwn(usual, kind) ? usual[kind] : undefined;
  const addresses = setting ?? (own === undefined ? Object.values(usual) : [own]);
  const origins = addresses.map(originOf).filter((origin) => origin !== undefined);
  return [...new Set(origins)];
}

/** OLLAMA_HOST is a host, a host with a port, or a URL. */
function withPort(address: string, port: string): string {
  const url = withScheme(address);
  if (!URL.canParse(url)) return url;
  const parsed = new URL(url);
  // A URL without a port means the default port of its scheme, as in Ollama's own client.
  if (parsed.port === "" && !address.includes("://")) parsed.port = port;
  return parsed.origin;
}

function originOf(address: string): string | undefined {
  const url = withScheme(address.trim());
  if (!URL.canParse(url)) return undefined;
  const parsed = new URL(url);
  if (!/^https?:$/.test(parsed.protocol)) return undefined;
  // A server that listens on all addresses is asked on this machine.
  if (parsed.hostname === "0.0.0.0" || parsed.hostname === "[::]") parsed.hostname = "127.0.0.1";
  return parsed.origin;
}

function withScheme(address: string): string {
  return address.includes("://") ? address : `http://${address}`;
}

import { SessionError } from "@tau-agent/rpc-protocol/plain";
import { type Environment, isLoopback } from "@tau-agent/system";

type Fetch = typeof globalThis.fetch;

export interface ProxySource {
  readonly environment: Environment;
  /** The setting `httpProxy`, which overrides the environment. */
  readonly setting: () => string | undefined;
}

/** The proxies for the two kinds of URLs, and the hosts reached without a proxy. */
interface ProxyPlan {
  readonly httpProxy: string | undefined;
  readonly httpsProxy: string | undefined;
  readonly noProxy: string;
}

/**
 * Returns a function for the `fetch` that uses the user's proxy. Without a proxy it returns
 * undefined and loads nothing. The `fetch` is created once per proxy.
 *
 * @returns rejects with {@link SessionError} `invalid_option` if the proxy's address is invalid
 */
export function proxiedFetch(source: ProxySource): () => Promise<Fetch | undefined> {
  let made: { readonly key: string; readonly fetch: Promise<Fetch> } | undefined;
  return async () => {
    const plan = planOf(source);
    if (plan === undefined) return undefined;
    const key = JSON.stringify(plan);
    if (made?.key !== key) made = { key, fetch: createFetch(plan) };
    return made.fetch;
  };
}

/**
 * Returns a function that finds the proxy for an address; undefined for none.
 *
 * @returns throws {@link SessionError} `invalid_option` if the proxy's address is invalid
 */
export function proxyFinder(source: ProxySource): (target: URL) => URL | undefined {
  return (target) => {
    const plan = planOf(source);
    if (plan === undefined || isLoopback(target.hostname) || isException(target, plan.noProxy)) {
      return undefined;
    }
    const proxy = target.protocol === "https:" ? plan.httpsProxy : plan.httpProxy;
    return proxy === undefined ? undefined : new URL(proxy);
  };
}

/** Whether no proxy is used for a host: `name`, `.name` and `*.name`, each with or without a port. */
function isException({ hostname, port, protocol }: URL, noProxy: string): boolean {
  const host = hostname.toLowerCase().replace(/\.$/, "");
  const own = port || (protocol === "https:" ? "443" : "80");
  return noProxy.split(",").some((entry) => {
    const [, name = "", of] = /^(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
    if (name === "" || (of !== undefined && of !== own)) return false;
    if (name === "*") return true;
    const below = name.replace(/^\*/, "");
    return below.startsWith(".") ? host.endsWith(below) : host === below;
  });
}

function planOf({ environment, setting }: ProxySource): ProxyPlan | undefined {
  const variable = (name: string): string | undefined =>
    environment[name.toLowerCase()]?.trim() || environment[name]?.trim() || undefined;
  const own = setting()?.trim() || undefined;
  const any = variable("ALL_PROXY");
  const httpsProxy = address("HTTPS_PROXY", own ?? variable("HTTPS_PROXY") ?? any, own);
  const httpProxy = address("HTTP_PROXY", own ?? variable("HTTP_PROXY") ?? any, own);
  if (httpsProxy === undefined && httpProxy === undefined) return undefined;
  return { httpProxy, httpsProxy, noProxy: exceptions(variable("NO_PROXY")) };
}

/** The address with its scheme, which many users leave out. */
function address(
  name: string,
  value: string | undefined,
  setting: string | undefined,
): string | undefined {
  if (value === undefined) return undefined;
  const url = /^[a-z][a-z\d+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  if (URL.canParse(url) && /^https?:/i.test(url)) return url;
  throw new SessionError("invalid_option", {
    option: setting === undefined ? name : "httpProxy",
    reason: "it must be the address of an http or https proxy, such as http://proxy:3128",
  });
}

/** Converts exceptions; a name includes its subdomains. */
function exceptions(list = ""): string {
  if (list.split(",").some((entry) => entry.trim() === "*")) return "*";
  const named = list.split(/[\s,]+/).filter((entry) => entry !== "");
  const below = named.filter((entry) => /^[^.*]/.test(entry)).map((entry) => `.${entry}`);
  return [...named, ...below].join(",");
}

async function createFetch(plan: ProxyPlan): Promise<Fetch> {
  const { EnvHttpProxyAgent, fetch } = await import("undici");
  // An empty text keeps the library from reading the process's own environment.
  const dispatcher = new EnvHttpProxyAgent({
    httpProxy: plan.httpProxy ?? "",
    httpsProxy: plan.httpsProxy ?? "",
    noProxy: plan.noProxy,
    // Proxies that inspect traffic hold back streamed replies.
    proxyTunnel: true,
  });
  const proxied = (input: string | URL | Request, init: RequestInit = {}): Promise<unknown> => {
    // Servers on this machine are never behind a proxy.
    const { hostname } = new URL(input instanceof Request ? input.url : input);
    const way = isLoopback(hostname) ? {} : { dispatcher };
    if (!(input instanceof Request)) return fetch(input, { ...init, ...way } as never);
    // The library accepts only its own request class.
    const { url, method, headers, body, signal } = input;
    const stream = body === null ? {} : { body, duplex: "half" };
    return fetch(url, { method, headers, signal, ...stream, ...init, ...way } as never);
  };
  return proxied as Fetch;
}

const unknownName = /(?:ENOTFOUND|EAI_AGAIN) (\S+)/;
/** The words for an address where nobody answers, its host and its port. */
const unreachedAddress = /(?:ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT) (\S+):(\d+)/;

const remedy = "check httpProxy in the settings, or HTTPS_PROXY in the environment";

/**
 * The next step after a connection failed at the proxy, not at the server. Undefined if the message is
 * ambiguous or blames the server.
 */
export function proxyStep(message: string, baseUrl: string): string | undefined {
  if (/when HTTP Tunneling/.test(message)) {
    return `The proxy refused the connection; ${remedy}, and the user and password in it.`;
  }
  const proxy = proxyIn(message, baseUrl);
  return proxy === undefined ? undefined : `The proxy ${proxy} cannot be reached; ${remedy}.`;
}

function proxyIn(message: string, baseUrl: string): string | undefined {
  if (!URL.canParse(baseUrl)) return undefined;
  const { hostname, port, protocol } = new URL(baseUrl);
  const [, name] = unknownName.exec(message) ?? [];
  if (name !== undefined) return name === hostname ? undefined : name;
  const [, address, at] = unreachedAddress.exec(message) ?? [];
  // The server's name has become an address by then; its port is still the same.
  const own = port || (protocol === "https:" ? "443" : "80");
  return at === undefined || at === own ? undefined : `${address}:${at}`;
}

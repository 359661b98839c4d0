const unknownName = /(?:ENOTFOUND|EAI_AGAIN) (\S+)/;
/** Matches a connection error with the host and port of the unreachable address. */
const unreachedAddress = /(?:ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT) (\S+):(\d+)/;

const remedy = "check httpProxy in the settings, or HTTPS_PROXY in the environment";

/**
 * The next step if a connection failed at the proxy instead of the server. Undefined if the message is
 * ambiguous or names the server.
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
  // The message has the server's IP address instead of its name, but the same port.
  const own = port || (protocol === "https:" ? "443" : "80");
  return at === undefined || at === own ? undefined : `${address}:${at}`;
}

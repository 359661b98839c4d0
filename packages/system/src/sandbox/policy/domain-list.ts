/** Whether a list of exact names, `*.name` and `*` allows a name as requested, before it is resolved. */
export function allowsHost(domains: readonly string[], asked: string): boolean {
  const host = plainName(asked);
  if (host === "") return false;
  return domains.some((domain) => {
    const wanted = plainName(domain);
    if (wanted === "*") return true;
    // An address belongs to no domain, however it is written.
    if (wanted.startsWith("*.")) return !isAddress(host) && host.endsWith(wanted.slice(1));
    return wanted === host;
  });
}

/** Whether a list allows every name that one entry of another list allows. */
export function coversDomain(domains: readonly string[], domain: string): boolean {
  const asked = plainName(domain);
  if (!asked.startsWith("*.")) return allowsHost(domains, asked);
  return domains.some((each) => {
    const wanted = plainName(each);
    return wanted === "*" || (wanted.startsWith("*.") && asked.endsWith(wanted.slice(1)));
  });
}

/** In lower case, without a trailing dot and without the brackets of IPv6. */
export function plainName(name: string): string {
  return name
    .toLowerCase()
    .replace(/\.$/, "")
    .replace(/^\[(.*)\]$/, "$1");
}

/** Resolvers also accept `127.1`, `0x7f.1` and `2130706433` as addresses. */
function isAddress(host: string): boolean {
  return host.includes(":") || /^(?:0x[\da-f]*|\d+)$/.test(host.slice(host.lastIndexOf(".") + 1));
}

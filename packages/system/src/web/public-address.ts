import { BlockList, isIP } from "node:net";

/**
 * Addresses that IANA's special-purpose registries do not list as globally reachable (RFC 6890 and its updates), and
 * those that are not unicast: prefixes, each with the reachable ranges inside it.
 */
const closed4 = [
  ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"],
  ...["192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15"],
  ...["198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"],
];
const open4 = ["192.0.0.9/32", "192.0.0.10/32"];

/** These include Teredo (2001::/32) and 6to4 (2002::/16), which embed an IPv4 address. */
const closed6 = [
  ...["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"],
  // Everything except global unicast, which is 2000::/3.
  ...["::/3", "4000::/2", "8000::/1"],
];
const open6 = [
  ...["2001:1::1/128", "2001:1::2/128", "2001:1::3/128"],
  ...["2001:3::/32", "2001:4:112::/48", "2001:20::/28", "2001:30::/28"],
];

function listOf(prefixes: readonly string[], family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  for (const prefix of prefixes) {
    const [network = "", bits] = prefix.split("/");
    list.addSubnet(network, Number(bits), family);
  }
  return list;
}

/** Classifies addresses; builds its lists on construction. */
export class PublicAddresses {
  readonly #closed4 = listOf(closed4, "ipv4");
  readonly #open4 = listOf(open4, "ipv4");
  readonly #closed6 = listOf(closed6, "ipv6");
  readonly #open6 = listOf(open6, "ipv6");

  /** Whether an address, as text, can be reached by anybody on the internet. */
  has(address: string): boolean {
    const family = isIP(address);
    if (family === 4) return !this.#closed4.check(address) || this.#open4.check(address);
    // Only link-local addresses have a zone.
    if (family !== 6 || address.includes("%")) return false;
    const inside = translated(address);
    if (inside !== undefined) return this.has(inside);
    return !this.#closed6.check(address, "ipv6") || this.#open6.check(address, "ipv6");
  }
}

/** The IPv4 address in NAT64's well-known prefix (64:ff9b::/96). */
function translated(address: string): string | undefined {
  const groups = groupsOf(address);
  const prefix = [0x64, 0xff9b, 0, 0, 0, 0];
  if (!prefix.every((group, at) => groups[at] === group)) return undefined;
  const [high = 0, low = 0] = groups.slice(6);
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

/** The eight groups of an IPv6 address. */
function groupsOf(address: string): number[] {
  // `URL` normalises every form to the shortest one, without dots.
  const plain = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = "", tail] = plain.split("::");
  const groups = (text: string) =>
    text === "" ? [] : text.split(":").map((part) => parseInt(part, 16));
  const [first, last] = [groups(head), groups(tail ?? "")];
  return [...first, ...new Array<number>(8 - first.length - last.length).fill(0), ...last];
}

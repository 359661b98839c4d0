/**
 * The host names under which the console answers: those of its address, with the port, and those of
 * `--console-host`. Requests under any other name are refused, which prevents DNS rebinding.
 */
export class ConsoleHosts {
  readonly #hosts = new Set<string>();
  readonly #named: readonly string[];

  constructor(named: readonly string[]) {
    this.#named = named.map((name) => name.toLowerCase());
  }

  /** Adds the address, once its port is known. */
  listening(names: readonly string[], port: number): void {
    for (const name of names) this.#hosts.add(`${name.toLowerCase()}:${port}`);
    for (const name of this.#named) {
      this.#hosts.add(name);
      this.#hosts.add(`${name}:${port}`);
    }
  }

  has(host: string | undefined): boolean {
    return host !== undefined && this.#hosts.has(host.toLowerCase());
  }

  /** Whether a page of this origin is the console itself: the origin has the host name of the request. */
  isOwn(origin: string, host: string | undefined): boolean {
    if (!this.has(host) || !URL.canParse(origin)) return false;
    const { protocol, host: own, port } = new URL(origin);
    if (protocol !== "http:" && protocol !== "https:") return false;
    const standard = protocol === "https:" ? "443" : "80";
    const names = port === "" ? [own, `${own}:${standard}`] : [own];
    return names.includes(host?.toLowerCase() ?? "");
  }
}

import { isIP } from "node:net";
import { isAbsolute } from "node:path";
import { refuse } from "../../command-line/values.ts";

export type ListenAddress =
  | { readonly kind: "unix"; readonly path: string }
  | { readonly kind: "tcp"; readonly host: string; readonly port: number };

/**
 * Reads `unix:<path>` or `<host>:<port>`.
 *
 * @throws {ProtocolError} `invalid_option`
 */
export function parseAddress(text: string): ListenAddress {
  if (text.startsWith("unix:")) {
    const path = text.slice("unix:".length).replace(/^\/\/(?=\/)/, "");
    if (!isAbsolute(path)) refuse(`--listen ${text}`, "the path of the socket has to be absolute");
    return { kind: "unix", path };
  }
  const [, host = "", digits = ""] = /^(?:\w+:\/\/)?(.*):(\d{1,5})$/.exec(text) ?? [];
  const name = host.replace(/^\[(.*)\]$/, "$1");
  const port = Number(digits);
  const isNamed = isIP(name) !== 0 || /^[A-Za-z0-9.-]+$/.test(name);
  if (digits === "" || !isNamed || port > 65_535) {
    refuse(`--listen ${text}`, "expected unix:<path> or <host>:<port>");
  }
  return { kind: "tcp", host: name, port };
}

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

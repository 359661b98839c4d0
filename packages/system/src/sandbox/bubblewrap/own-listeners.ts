import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { attempt } from "../../base/attempt.ts";

export interface OwnListeners {
  /** TCP ports, on any address. */
  readonly ports: readonly number[];
  /** Paths of Unix sockets. */
  readonly sockets: readonly string[];
}

/** The state of a listening socket in `/proc/net/tcp`. */
const LISTENING = "0A";

/**
 * Where this process listens at the moment, from the kernel, so that no part of the host needs to register its
 * sockets: a command in the sandbox must not control the host that started it. Empty where there is no `/proc`.
 *
 * @param others ids of processes of the same host, such as those that started this one
 */
export function ownListeners(others: readonly number[] = []): OwnListeners {
  const own = new Set(["self", ...others].flatMap((process) => socketsOf(process)));
  const tcp = ["/proc/self/net/tcp", "/proc/self/net/tcp6"].flatMap(rowsOf);
  const ports = tcp.flatMap(([, address = "", , state, , , , , , inode = ""]) =>
    state === LISTENING && own.has(inode) ? [Number.parseInt(address.split(":")[1] ?? "", 16)] : [],
  );
  const sockets = rowsOf("/proc/self/net/unix").flatMap(([, , , , , , inode = "", path = ""]) =>
    own.has(inode) && path.startsWith("/") ? [path] : [],
  );
  return { ports: [...new Set(ports)], sockets: [...new Set(sockets)] };
}

function socketsOf(process: string | number): readonly string[] {
  const found: string[] = [];
  const folder = `/proc/${process}/fd`;
  for (const name of attempt(() => readdirSync(folder)) ?? []) {
    try {
      const [, inode] = /^socket:\[(\d+)\]$/.exec(readlinkSync(`${folder}/${name}`)) ?? [];
      if (inode !== undefined) found.push(inode);
    } catch {
      // The descriptor was closed meanwhile.
    }
  }
  return found;
}

function rowsOf(file: string): readonly (readonly string[])[] {
  try {
    const lines = readFileSync(file, "utf8").split("\n");
    return lines.slice(1).map((line) => line.trim().split(/\s+/));
  } catch {
    return [];
  }
}

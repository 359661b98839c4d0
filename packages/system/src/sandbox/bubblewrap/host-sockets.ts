import { readFileSync } from "node:fs";

/** Variables with the addresses of programs that act for their user. */
const addressVariables = [
  "SSH_AUTH_SOCK",
  "DBUS_SESSION_BUS_ADDRESS",
  "DBUS_SYSTEM_BUS_ADDRESS",
  "DOCKER_HOST",
  "CONTAINER_HOST",
  "GPG_AGENT_INFO",
];

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Sockets in the file system through which a command could have something done outside. A read-only
 * mount does not prevent a command from connecting to them.
 */
export function hostSockets(environment: Environment): {
  readonly named: readonly string[];
  readonly bound: readonly string[];
} {
  const named = addressVariables.flatMap((name) => pathsOf(environment[name] ?? ""));
  return { named, bound: boundSockets() };
}

/** The environment of a command without the addresses of programs outside. */
export function withoutAddresses(
  variables: Readonly<Record<string, string>>,
): Record<string, string> {
  const removed = new Set([...addressVariables, "XDG_RUNTIME_DIR"]);
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !removed.has(name)));
}

/** `/path`, `unix:///path`, and `unix:path=/path,guid=…;…` for D-Bus. */
function pathsOf(address: string): readonly string[] {
  return address
    .split(";")
    .flatMap((one) => /^(?:unix:(?:\/\/|path=)?)?(\/[^,:]+)/.exec(one)?.[1] ?? []);
}

function boundSockets(): readonly string[] {
  try {
    const lines = readFileSync("/proc/net/unix", "utf8").split("\n");
    return lines.flatMap((line) => / (\/.*)$/.exec(line)?.[1] ?? []);
  } catch {
    return [];
  }
}

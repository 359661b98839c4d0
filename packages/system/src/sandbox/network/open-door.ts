import { join } from "node:path";
import { randomHex } from "../../base/random.ts";
import type { SandboxNetworkDoor } from "./network-door.ts";
import { type ProxyRules, startProxy } from "./proxy.ts";

export interface DoorPlace {
  /** Where the host keeps the sandbox's files. */
  readonly folder: string;
  readonly isShared: boolean;
}

/** Every sandbox has a separate network, so they can all use the same port. */
const PORT = 3128;

/** Holds the command's NODE_OPTIONS, so that the forwarder in front of the command does not load their modules. */
const NODE_OPTIONS_INSIDE = "TAU_NODE_OPTIONS_INSIDE";

/** The variables of a command as the forwarder in front of it gets them; the forwarder restores them. */
export function behindDoor(
  door: SandboxNetworkDoor | undefined,
  { NODE_OPTIONS: options, ...variables }: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  if (options === undefined) return variables;
  const isInFront = door !== undefined && door.command.length > 0;
  return { ...variables, [isInFront ? NODE_OPTIONS_INSIDE : "NODE_OPTIONS"]: options };
}

/**
 * Runs inside, in front of the command: forwards connections from the port to the proxy's socket, and ends as
 * the command does. A string, because the host may be bundled into one file.
 */
const forwarder = `
const [socket, file, ...args] = process.argv.slice(1);
const net = require("node:net");
const { constants } = require("node:os");
const { spawn } = require("node:child_process");
const server = net.createServer({ allowHalfOpen: true }, (inner) => {
  const outer = net.connect({ path: socket, allowHalfOpen: true });
  inner.pipe(outer).pipe(inner);
  inner.on("error", () => outer.destroy());
  outer.on("error", () => inner.destroy());
});
server.listen(${PORT}, "127.0.0.1", () => {
  const { ELECTRON_RUN_AS_NODE, NODE_OPTIONS, ${NODE_OPTIONS_INSIDE}: options, ...env } = process.env;
  if (options !== undefined) env.NODE_OPTIONS = options;
  const child = spawn(file, args, { stdio: "inherit", env });
  child.on("error", (error) => { console.error(error.message); process.exit(127); });
  child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
});`;

/**
 * Opens a session's sandbox to the domains of its settings. The proxy listens on a port if the
 * sandbox shares this machine's network, otherwise on a socket.
 */
export async function openDoor(
  { folder, isShared }: DoorPlace,
  rules: ProxyRules,
): Promise<SandboxNetworkDoor> {
  if (isShared) {
    // Every program on the machine can reach the port.
    const password = rules.secrets === undefined ? undefined : randomHex(16);
    const place = { host: "127.0.0.1", port: 0 };
    const { port, close } = await startProxy(place, { ...rules, password });
    return { command: [], variables: proxyVariables(port, password), files: [], port, close };
  }
  const socket = join(folder, "proxy.sock");
  const { close } = await startProxy({ path: socket }, rules);
  return doorTo(socket, close);
}

/** A door to a proxy that listens on a socket. */
export function doorTo(socket: string, close: () => Promise<void>): SandboxNetworkDoor {
  return {
    command: [process.execPath, "-e", forwarder, "--", socket],
    variables: { ...proxyVariables(PORT), ELECTRON_RUN_AS_NODE: "1" },
    files: [socket],
    close,
  };
}

function proxyVariables(port: number | undefined, password?: string): Record<string, string> {
  const names = ["http_proxy", "https_proxy", "all_proxy"];
  const all = [...names, ...names.map((name) => name.toUpperCase())];
  const user = password === undefined ? "" : `tau:${password}@`;
  const address = `http://${user}127.0.0.1:${port}`;
  return { ...Object.fromEntries(all.map((name) => [name, address])), no_proxy: "", NO_PROXY: "" };
}

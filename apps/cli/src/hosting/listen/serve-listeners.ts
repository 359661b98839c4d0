import { isAbsolute, join, resolve } from "node:path";
import { encodeLine } from "@tau-agent/rpc-protocol";
import { refuse } from "../../command-line/values.ts";
import type { ClientSetup } from "../clients/client-options.ts";
import type { HostingContext } from "../sessions/hosting-context.ts";
import { isLoopback, type ListenAddress, parseAddress } from "./address.ts";
import type { Listener } from "./listener.ts";

export interface ListenContext extends HostingContext {
  readonly pingMs: number;
  /** Announces the address of a listener; by default with a frame on stdout. */
  readonly announce?: ((listener: Listener) => void) | undefined;
}

/**
 * Listens at all addresses of the command line, announces them on stdout, and serves the clients that connect.
 *
 * @throws {ProtocolError} `invalid_option` if listening at one of them fails
 */
export async function serveListeners(setup: ClientSetup, context: ListenContext): Promise<void> {
  const { options, output, shutdown } = context;
  const addresses = options.listen.map(parseAddress);
  for (const address of addresses) refuseRemote(address, options.allowRemote);
  refuseConsole(addresses, options);
  const listeners: Listener[] = [];
  shutdown.onShutdown(async () => {
    for (const listener of listeners) listener.stop();
    await setup.pool.closeAll();
    await Promise.all(listeners.map((listener) => listener.end()));
  });
  try {
    for (const address of addresses) listeners.push(await listenAt(address, setup, context));
  } catch (error) {
    for (const listener of listeners) listener.stop();
    throw error;
  }
  for (const listener of listeners) (context.announce ?? announceTo(output))(listener);
}

function announceTo(output: HostingContext["output"]) {
  return ({ url, tokenFile, consoleLink }: Listener): void => {
    const link = consoleLink && { console: consoleLink() };
    output.write(encodeLine({ type: "listening", url, ...(tokenFile && { tokenFile }), ...link }));
  };
}

/** A console needs a port, because pages cannot connect to a Unix socket. */
function refuseConsole(
  addresses: readonly ListenAddress[],
  { console, consoleHost }: ListenContext["options"],
): void {
  const hasPort = addresses.some(({ kind }) => kind === "tcp");
  if (console && !hasPort) refuse("--console", "it needs --listen <host>:<port>");
  if (!console && consoleHost.length > 0) refuse("--console-host", "it needs --console");
}

function refuseRemote(address: ListenAddress, isAllowed: boolean | undefined): void {
  if (address.kind === "unix" || isAllowed || isLoopback(address.host)) return;
  const reason = "other machines may reach this address; add --allow-remote if they shall";
  refuse(`--listen ${address.host}`, reason);
}

async function listenAt(
  address: ListenAddress,
  setup: ClientSetup,
  { options, environment, pingMs }: ListenContext,
): Promise<Listener> {
  if (address.kind === "unix") {
    const { listenOnSocket } = await import("./unix-listener.ts");
    return listenOnSocket(address.path, setup);
  }
  const { listenOnPort } = await import("./tcp-listener.ts");
  const { tokenFile } = options;
  const path =
    tokenFile === undefined
      ? join(environment.agentDirectory, "rpc-token")
      : isAbsolute(tokenFile)
        ? tokenFile
        : resolve(environment.cwd, tokenFile);
  const consoleHosts = options.console ? options.consoleHost : undefined;
  const access = { tokenFile: path, origins: options.allowOrigin, consoleHosts };
  return listenOnPort(address, setup, { ...access, pingMs });
}

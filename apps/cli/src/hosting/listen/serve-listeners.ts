import { isAbsolute, join, resolve } from "node:path";
import { encodeLine, ProtocolError } from "@tau-agent/rpc-protocol";
import type { ClientSetup } from "../clients/client-options.ts";
import type { HostingContext } from "../sessions/hosting-context.ts";
import { isLoopback, type ListenAddress, parseAddress } from "./address.ts";
import type { Listener } from "./listener.ts";

export interface ListenContext extends HostingContext {
  readonly pingMs: number;
}

/**
 * Listens at all addresses of the command line, says so on stdout, and serves the clients that connect.
 *
 * @throws {ProtocolError} `invalid_option` if one of them cannot be listened at
 */
export async function serveListeners(setup: ClientSetup, context: ListenContext): Promise<void> {
  const { options, output, shutdown } = context;
  const addresses = options.listen.map(parseAddress);
  for (const address of addresses) refuseRemote(address, options.allowRemote);
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
  for (const { url, tokenFile } of listeners) {
    output.write(encodeLine({ type: "listening", url, ...(tokenFile && { tokenFile }) }));
  }
}

function refuseRemote(address: ListenAddress, isAllowed: boolean | undefined): void {
  if (address.kind === "unix" || isAllowed || isLoopback(address.host)) return;
  const reason = "other machines may reach this address; add --allow-remote if they shall";
  throw new ProtocolError("invalid_option", { option: `--listen ${address.host}`, reason });
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
  const access = { tokenFile: path, origins: options.allowOrigin };
  return listenOnPort(address, setup, { ...access, pingMs });
}

import type { RemoteOptions } from "../session/connect-options.ts";
import { RemoteClient } from "../session/remote-client.ts";
import { RemoteHost } from "../session/remote-host.ts";
import { openWebSocket } from "../wire/open-web-socket.ts";

/** How a page connects to a host. */
export interface BrowserOptions extends RemoteOptions {
  /** The token of the host. It allows everything that the host's user can do. */
  readonly token: string;
}

/**
 * Connects a page to a listening host: `ws://…` or `wss://…`. The host has to allow the page's origin
 * (`--allow-origin`). A lost connection is restored and continues where it was cut.
 *
 * @throws {ConnectionClosedError}
 */
export async function connect(url: string, options: BrowserOptions): Promise<RemoteClient> {
  const { token, ...rest } = options;
  // The host selects the first protocol, so the token is not sent back.
  const credentials = { protocols: ["tau", `tau.bearer.${token}`] };
  const headers = { Authorization: `Bearer ${token}` };
  const host = await RemoteHost.connect(
    (wire) => openWebSocket(url, { ...wire, credentials, headers }),
    rest,
  );
  return new RemoteClient(host, rest);
}

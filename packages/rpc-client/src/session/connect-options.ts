import type { TokenOptions } from "../wire/find-token.ts";
import type { RemoteOptions } from "./remote-host.ts";

/** How a client connects to a host that listens. */
export interface ConnectOptions extends TokenOptions, RemoteOptions {}

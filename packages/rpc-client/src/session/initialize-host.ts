import type { Params, Result } from "@tau-agent/rpc-protocol";
import type { Connection } from "../connection/connection.ts";
import { answeredMethods } from "../events/host-requests.ts";
import { decodeResult } from "./command-methods.ts";
import type { RemoteOptions } from "./connect-options.ts";
import { DEFAULT_REQUEST_TIMEOUT_MS } from "./rpc-client-options.ts";

/** @throws {RpcError} if the host does not know the command */
export async function initializeHost(
  connection: Connection,
  options: RemoteOptions,
): Promise<Result<"initialize">> {
  const { requestTimeoutMs: timeoutMs = DEFAULT_REQUEST_TIMEOUT_MS } = options;
  const { answer } = connection.send("initialize", initializeParams(options), { timeoutMs });
  return decodeResult("initialize", await answer);
}

export function initializeParams({
  clientInfo,
  mergeMs,
  rewind,
  stream = "delta",
  workspace,
  ...deciders
}: RemoteOptions): Params<"initialize"> {
  return {
    // The environment may have chosen another dialect; this client passes on events of this one.
    protocol: "pi",
    stream,
    ...(mergeMs !== undefined && { mergeMs }),
    ...(rewind !== undefined && { rewind }),
    ...(clientInfo && { clientInfo }),
    capabilities: {
      // Always sent: without it, the host would open dialogs that nobody sees.
      hostRequests: answeredMethods(deciders),
      ...(workspace !== undefined && { workspace: true }),
    },
  };
}

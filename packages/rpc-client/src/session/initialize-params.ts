import type { Params } from "@tau-agent/rpc-protocol";
import { answeredMethods } from "../events/host-requests.ts";
import type { RpcClientOptions } from "./rpc-client-options.ts";

export function initializeParams({
  clientInfo,
  approve,
  raiseBudget,
  credentials,
  mergeMs,
  stream = "delta",
}: Pick<
  RpcClientOptions,
  "clientInfo" | "approve" | "raiseBudget" | "credentials" | "mergeMs" | "stream"
>): Params<"initialize"> {
  return {
    // The environment may have chosen a dialect for others; events are handed on in this one.
    protocol: "pi",
    stream,
    ...(mergeMs !== undefined && { mergeMs }),
    ...(clientInfo && { clientInfo }),
    ...((approve ?? raiseBudget ?? credentials) && {
      capabilities: {
        hostRequests: [...answeredMethods, ...(credentials === undefined ? [] : ["credential"])],
      },
    }),
  };
}

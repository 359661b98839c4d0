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
  workspace,
}: Pick<
  RpcClientOptions,
  "clientInfo" | "approve" | "raiseBudget" | "credentials" | "mergeMs" | "stream" | "workspace"
>): Params<"initialize"> {
  const answersRequests = (approve ?? raiseBudget ?? credentials) !== undefined;
  return {
    // The environment may have chosen a dialect for others; events are handed on in this one.
    protocol: "pi",
    stream,
    ...(mergeMs !== undefined && { mergeMs }),
    ...(clientInfo && { clientInfo }),
    ...((answersRequests || workspace !== undefined) && {
      capabilities: {
        ...(answersRequests && {
          hostRequests: [...answeredMethods, ...(credentials === undefined ? [] : ["credential"])],
        }),
        ...(workspace !== undefined && { workspace: true }),
      },
    }),
  };
}

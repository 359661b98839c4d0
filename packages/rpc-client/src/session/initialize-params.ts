import type { Params } from "@tau-agent/rpc-protocol";
import { answeredMethods } from "../events/host-requests.ts";
import type { RpcClientOptions } from "./rpc-client-options.ts";

export function initializeParams({
  clientInfo,
  mergeMs,
  stream = "delta",
  workspace,
  ...deciders
}: Pick<
  RpcClientOptions,
  | "clientInfo"
  | "approve"
  | "raiseBudget"
  | "answerQuestions"
  | "credentials"
  | "ui"
  | "mergeMs"
  | "stream"
  | "workspace"
>): Params<"initialize"> {
  return {
    // The environment may have chosen a dialect for others; events are handed on in this one.
    protocol: "pi",
    stream,
    ...(mergeMs !== undefined && { mergeMs }),
    ...(clientInfo && { clientInfo }),
    capabilities: {
      // Said in any case: a host that does not know would offer dialogs that nobody sees.
      hostRequests: answeredMethods(deciders),
      ...(workspace !== undefined && { workspace: true }),
    },
  };
}

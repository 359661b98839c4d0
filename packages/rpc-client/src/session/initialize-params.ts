import type { Params } from "@tau-agent/rpc-protocol";
import { answeredMethods } from "../events/host-requests.ts";
import type { RpcClientOptions } from "./rpc-client-options.ts";

export function initializeParams({
  clientInfo,
  mergeMs,
  rewind,
  stream = "delta",
  workspace,
  ...deciders
}: Pick<
  RpcClientOptions,
  | "clientInfo"
  | "approve"
  | "raiseBudget"
  | "answerQuestions"
  | "answerElicitation"
  | "openUrl"
  | "credentials"
  | "ui"
  | "mergeMs"
  | "rewind"
  | "stream"
  | "workspace"
>): Params<"initialize"> {
  return {
    // The environment may have chosen a dialect for others; events are handed on in this one.
    protocol: "pi",
    stream,
    ...(mergeMs !== undefined && { mergeMs }),
    ...(rewind !== undefined && { rewind }),
    ...(clientInfo && { clientInfo }),
    capabilities: {
      // Said in any case: a host that does not know would offer dialogs that nobody sees.
      hostRequests: answeredMethods(deciders),
      ...(workspace !== undefined && { workspace: true }),
    },
  };
}

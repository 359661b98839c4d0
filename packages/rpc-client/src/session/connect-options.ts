import type { TokenOptions } from "../wire/find-token.ts";
import type { RpcClientOptions } from "./rpc-client-options.ts";

/** How a client gets on with a host that listens, whatever connects it. */
export interface RemoteOptions
  extends Pick<
    RpcClientOptions,
    | "approve"
    | "raiseBudget"
    | "answerQuestions"
    | "answerElicitation"
    | "openUrl"
    | "credentials"
    | "ui"
    | "workspace"
    | "clientInfo"
    | "mergeMs"
    | "rewind"
    | "stream"
    | "requestTimeoutMs"
  > {
  /** How long a lost connection is tried again, in ms: 60 s by default, 0 for not at all. */
  readonly reconnect?: { readonly maxMs: number };
  /** How long a connection may take, in ms: 10 s by default, 0 for no limit. */
  readonly connectTimeoutMs?: number;
}

/** How a client connects to a host that listens. */
export interface ConnectOptions extends TokenOptions, RemoteOptions {}

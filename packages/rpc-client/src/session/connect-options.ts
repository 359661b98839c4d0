import type { TokenOptions } from "../wire/find-token.ts";
import type { RpcClientOptions } from "./rpc-client-options.ts";

/** Options of a client of a listening host, for any kind of connection. */
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
  /** How long to try to restore a lost connection, in ms: 60 s by default, 0 to give up at once. */
  readonly reconnect?: { readonly maxMs: number };
  /** The time limit for connecting, in ms: 10 s by default, 0 for no limit. */
  readonly connectTimeoutMs?: number;
}

/** How a client connects to a listening host. */
export interface ConnectOptions extends TokenOptions, RemoteOptions {}

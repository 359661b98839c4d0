import type { RpcClientOptions } from "@tau-agent/rpc-client";

/** How the host is started, as for `RpcClient`; without a model and keys, those of the agent directory are used. */
export type TauHarnessOptions = Pick<
  RpcClientOptions,
  | "command"
  | "cliPath"
  | "provider"
  | "model"
  | "fallbackModels"
  | "extensions"
  | "args"
  | "cwd"
  | "env"
  | "credentials"
  | "raiseBudget"
  | "requestTimeoutMs"
>;

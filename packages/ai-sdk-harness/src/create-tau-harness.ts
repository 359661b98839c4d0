import type { HarnessV1 } from "@ai-sdk/harness";
import type { RpcClientOptions } from "@tau-agent/rpc-client";
import { builtinTools } from "./builtin-tools.ts";
import { HARNESS_ID, lifecycleData } from "./lifecycle-state.ts";
import { openTauSession } from "./open-tau-session.ts";

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

/** The Tau coding agent as a harness. */
export type TauHarness = HarnessV1<typeof builtinTools>;

/**
 * The Tau coding agent as a harness of the AI SDK. Each session runs in a host process that the harness starts
 * and that outlives it: a turn that was suspended goes on there, and another process continues it without loss.
 */
export function createTauHarness(options: TauHarnessOptions = {}): TauHarness {
  return {
    specificationVersion: "harness-v1",
    harnessId: HARNESS_ID,
    builtinTools,
    supportsBuiltinToolApprovals: true,
    supportsBuiltinToolFiltering: true,
    lifecycleStateSchema: lifecycleData,
    doStart: (start) => openTauSession(options, start),
  };
}

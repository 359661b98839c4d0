import type { HarnessV1 } from "@ai-sdk/harness";
import { builtinTools } from "./builtin-tools.ts";
import { HARNESS_ID, lifecycleData } from "./lifecycle-state.ts";
import { openTauSession } from "./open-tau-session.ts";
import type { TauHarnessOptions } from "./tau-harness-options.ts";

/** The Tau coding agent as a harness. */
export type TauHarness = HarnessV1<typeof builtinTools>;

/**
 * The Tau coding agent as a harness of the AI SDK. Each session runs in a host process that the harness starts and
 * that outlives the harness: a suspended turn continues there, and another process can resume it without loss.
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

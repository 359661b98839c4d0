/**
 * The Tau coding agent as a harness of the AI SDK, for `HarnessAgent`.
 *
 * @packageDocumentation
 */

export { createTauHarness, type TauHarness } from "./create-tau-harness.ts";
export type { TauHarnessOptions } from "./tau-harness-options.ts";

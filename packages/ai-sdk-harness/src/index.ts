/**
 * The Tau coding agent as a harness of the AI SDK, for `HarnessAgent`.
 *
 * @packageDocumentation
 */

export { createTauHarness, type TauHarness, type TauHarnessOptions } from "./create-tau-harness.ts";

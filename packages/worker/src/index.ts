/**
 * Prompts as jobs of a BullMQ queue.
 *
 * @packageDocumentation
 */
export type { CheckedOut, Checkout } from "./checkout.ts";
export { FleetWorker } from "./fleet-worker.ts";
export type { JobResult, PromptJob } from "./prompt-job.ts";
export type { WorkerOptions } from "./worker-options.ts";

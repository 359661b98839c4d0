import type { Diagnostic } from "@tau-agent/system";

/** Collects what is found wrong while a session is created, in the order it is found. */
export interface Diagnostics {
  push(...found: readonly Diagnostic[]): unknown;
}

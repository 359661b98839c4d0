import type { Diagnostic } from "../base/diagnostic.ts";

/** Collects what is found wrong while a session is created, in the order it is found. */
export interface Diagnostics {
  push(...found: readonly Diagnostic[]): unknown;
}

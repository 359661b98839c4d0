import type { SessionEvent } from "@tau-agent/rpc-protocol";
import { type Consumption, nothingUsed } from "@tau-agent/sessions/log";

export const nothingSpent: SpentBefore = { consumption: nothingUsed, runTimeMs: 0 };

export interface BudgetedSession {
  subscribe(listener: (event: SessionEvent) => void): () => void;
  report(event: SessionEvent): void | Promise<void>;
  abort(): Promise<void>;
  /** The use so far, according to the session's entries. */
  readonly log: { readonly totals: SpentBefore };
}

interface SpentBefore {
  readonly consumption: Consumption;
  readonly runTimeMs: number;
}

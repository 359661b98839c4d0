import type { SessionOnlyEvent } from "@tau-agent/rpc-protocol";
import { errorMessage, SessionError } from "@tau-agent/rpc-protocol/plain";
import type { Diagnostic } from "@tau-agent/system";

/** Failures that belong to no command: clients are notified, and the session continues. */
export class ProblemReport {
  /** Problems found at the creation of the session and since. */
  readonly diagnostics: Diagnostic[];
  readonly #emit: (event: SessionOnlyEvent) => void;
  readonly #onNote: ((diagnostic: Diagnostic) => void)[] = [];

  constructor(diagnostics: readonly Diagnostic[], emit: (event: SessionOnlyEvent) => void) {
    this.diagnostics = [...diagnostics];
    this.#emit = emit;
  }

  /** Records a failure and notifies clients. */
  add(error: unknown): void {
    const message = errorMessage(error);
    this.diagnostics.push({ severity: "error", message });
    const code = error instanceof SessionError ? error.code : undefined;
    this.#emit({ type: "error", error: message, ...(code === undefined ? {} : { code }) });
  }

  /** Notes a problem with the user's files that is not fatal; clients are not notified. */
  note(diagnostic: Diagnostic): void {
    this.diagnostics.push(diagnostic);
    for (const listener of this.#onNote) listener(diagnostic);
  }

  /** Notes a problem unless it is already known. */
  noteOnce(diagnostic: Diagnostic): void {
    if (this.diagnostics.some(({ message }) => message === diagnostic.message)) return;
    this.note(diagnostic);
  }

  /** Registers a listener for later problems, to show them in the same place as the first diagnostics. */
  onNote(listener: (diagnostic: Diagnostic) => void): void {
    this.#onNote.push(listener);
  }

  /** Runs a step; a failure is reported instead of thrown. */
  attempt(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.add(error);
    }
  }

  /** Reported as an event, the failure would reach the failing listener again, forever; so it is only noted once. */
  noteListenerError(error: unknown): void {
    this.noteOnce({ severity: "error", message: `A listener failed: ${errorMessage(error)}` });
  }
}

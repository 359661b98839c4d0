import type { ApprovalEntry } from "@tau-agent/rpc-protocol";

type Phase<Name extends ApprovalEntry["phase"]> = Extract<ApprovalEntry, { phase: Name }>;

/** Questions and answers in a session's file. */
export class ApprovalLog {
  readonly #append: (entry: ApprovalEntry) => void;

  constructor(append: (entry: ApprovalEntry) => void) {
    this.#append = append;
  }

  /** Written before the question is asked. */
  asked(question: Omit<Phase<"asked">, "phase">): void {
    this.#append({ phase: "asked", ...present(question) });
  }

  /** Written before the tool begins, or does not. */
  answered(answer: Omit<Phase<"answered">, "phase">): void {
    this.#append({ phase: "answered", ...present(answer) });
  }
}

function present<Members extends object>(members: Members): Members {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Members;
}

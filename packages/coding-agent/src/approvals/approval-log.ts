import type { ApprovalEntry } from "@tau-agent/rpc-protocol";

type Phase<Name extends ApprovalEntry["phase"]> = Extract<ApprovalEntry, { phase: Name }>;

/** Records questions and answers in a session's log. */
export class ApprovalLog {
  readonly #append: (entry: ApprovalEntry) => void;

  readonly #stored: () => Promise<void> | undefined;

  /** @param stored - resolves once the appended entries are durable; undefined if they already are */
  constructor(
    append: (entry: ApprovalEntry) => void,
    stored: () => Promise<void> | undefined = () => undefined,
  ) {
    this.#append = append;
    this.#stored = stored;
  }

  /** Resolves once the entries are durable: only then may the host act on them. */
  async kept(): Promise<void> {
    await this.#stored();
  }

  /** Written before the question is asked. */
  asked(question: Omit<Phase<"asked">, "phase">): void {
    this.#append({ phase: "asked", ...present(question) });
  }

  /** Written before the tool begins or is denied. */
  answered(answer: Omit<Phase<"answered">, "phase">): void {
    this.#append({ phase: "answered", ...present(answer) });
  }
}

function present<Members extends object>(members: Members): Members {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Members;
}

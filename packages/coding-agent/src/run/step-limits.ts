import { SessionError } from "@tau-agent/rpc-protocol/plain";
import { SparseMap, SparseSet } from "@tau-agent/system";

/** How far a prompt goes before it pauses. */
export interface Until {
  /** The maximum number of replies, including their tool calls. */
  readonly turns?: number | undefined;
  /** After this time, no reply and no tool call begins. */
  readonly ms?: number | undefined;
}

export type PausedBy = "turns" | "ms" | "max_turns";

interface Limit {
  readonly promptId: string;
  readonly until: Until;
  readonly begunAt: number;
  turns: number;
}

/** Pauses prompts at their limits (decision 64). A resumed prompt counts from 0 again. */
export class StepLimits {
  readonly #maxTurns: () => number | undefined;
  readonly #asked = new SparseMap<string, Until>();
  readonly #closed = new SparseSet<string>();
  #limit: Limit | undefined;
  #paused: { readonly promptId: string; readonly by: PausedBy } | undefined;

  constructor(maxTurns: () => number | undefined) {
    this.#maxTurns = maxTurns;
  }

  /** Sets a prompt's limits; they count from the start of its run. */
  ask(promptId: string, until: Until | undefined): void {
    if (until !== undefined) this.#asked.set(promptId, until);
    else this.#asked.delete(promptId);
    if (this.#limit?.promptId === promptId) this.#limit = undefined;
  }

  /** Notes that a run begins or continues. */
  begin(promptId: string | undefined): void {
    if (promptId === undefined || this.#limit?.promptId === promptId) return;
    const until = this.#asked.get(promptId) ?? {};
    this.#limit = { promptId, until, begunAt: performance.now(), turns: 0 };
    if (this.#paused?.promptId === promptId) this.#paused = undefined;
  }

  /** Notes a reply whose tools have run. */
  noteTurn(): void {
    if (this.#limit !== undefined) this.#limit.turns += 1;
  }

  /** Whether the run pauses here instead of continuing. */
  pause(): boolean {
    const by = this.#reached();
    if (by === undefined || this.#limit === undefined) return false;
    this.#paused = { promptId: this.#limit.promptId, by };
    return true;
  }

  /** Whether no more tool calls may begin. */
  get isOverTime(): boolean {
    return this.#reached() === "ms";
  }

  get pausedPromptId(): string | undefined {
    return this.#paused?.promptId;
  }

  /** Why a prompt is paused. */
  pausedBy(promptId: string): PausedBy | undefined {
    return this.#paused?.promptId === promptId ? this.#paused.by : undefined;
  }

  /**
   * Notes that another prompt begins, so that the paused one will not continue. Returns the id of the paused prompt.
   */
  close(): string | undefined {
    const promptId = this.#paused?.promptId;
    this.#paused = undefined;
    if (promptId !== undefined) this.#closed.add(promptId);
    return promptId;
  }

  /** @throws {SessionError} `prompt_not_paused` if another prompt has closed it */
  checkResumable(promptId: string): void {
    if (this.#closed.has(promptId)) throw new SessionError("prompt_not_paused", { promptId });
  }

  #reached(): PausedBy | undefined {
    if (this.#limit === undefined) return undefined;
    const { until, begunAt, turns } = this.#limit;
    if (until.turns !== undefined && turns >= until.turns) return "turns";
    if (until.ms !== undefined && performance.now() - begunAt >= until.ms) return "ms";
    const most = this.#maxTurns();
    return most !== undefined && most > 0 && turns >= most ? "max_turns" : undefined;
  }
}

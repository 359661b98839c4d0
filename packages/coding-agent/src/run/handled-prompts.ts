import type { PromptResult } from "@tau-agent/rpc-protocol/messages";
import { SparseMap, SparseSet } from "@tau-agent/system";
import {
  type PromptIdentity,
  type PromptOutcome,
  promptResult,
  withAnswer,
} from "./prompt-tracker.ts";

interface HandledPrompt {
  readonly finish: (status: "handled" | "aborted") => Promise<void>;
}

/** Tracks each prompt that an extension handles without a run, until it has its one result. */
export class HandledPrompts {
  readonly #announce: (outcome: PromptOutcome) => Promise<void>;
  readonly #underWay = new SparseSet<HandledPrompt>();
  readonly #results = new SparseMap<string, Promise<PromptResult>>();

  constructor(announce: (outcome: PromptOutcome) => Promise<void>) {
    this.#announce = announce;
  }

  /** Does the prompt's work after its sender has been answered. */
  begin(
    { id, promptId, isAnnounced, answer }: PromptIdentity,
    work?: () => Promise<void>,
  ): Promise<PromptResult> {
    const { promise, resolve } = Promise.withResolvers<PromptResult>();
    const prompt: HandledPrompt = {
      finish: async (status) => {
        if (!this.#underWay.delete(prompt)) return;
        const outcome = withAnswer({ id, promptId, status }, answer);
        if (isAnnounced) await this.#announce(outcome);
        resolve(promptResult(outcome));
      },
    };
    this.#underWay.add(prompt);
    this.#results.set(promptId, promise);
    setImmediate(async () => {
      if (!this.#underWay.has(prompt)) return;
      await work?.();
      await prompt.finish("handled");
    });
    return promise;
  }

  /** The result of a prompt that an extension handled, now or earlier. */
  find(promptId: string): Promise<PromptResult> | undefined {
    return this.#results.get(promptId);
  }

  /** Abandons unfinished prompts as aborted, because the session ends. */
  async abandon(): Promise<void> {
    for (const prompt of [...this.#underWay]) await prompt.finish("aborted");
  }
}

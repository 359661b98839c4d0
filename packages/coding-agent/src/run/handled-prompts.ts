import type { PromptIdentity, PromptResult } from "./prompt-tracker.ts";

interface HandledPrompt {
  readonly finish: (status: "handled" | "aborted") => Promise<void>;
}

/** Sees each prompt that begins no run, because an extension takes it, to its one result. */
export class HandledPrompts {
  readonly #announce: (result: PromptResult) => Promise<void>;
  readonly #underWay = new Set<HandledPrompt>();

  constructor(announce: (result: PromptResult) => Promise<void>) {
    this.#announce = announce;
  }

  /** Does what the prompt asks for, after its sender has been answered. */
  begin({ id, isAnnounced }: PromptIdentity, work?: () => Promise<void>): Promise<PromptResult> {
    const { promise, resolve } = Promise.withResolvers<PromptResult>();
    const prompt: HandledPrompt = {
      finish: async (status) => {
        if (!this.#underWay.delete(prompt)) return;
        const result: PromptResult = { id, status };
        if (isAnnounced) await this.#announce(result);
        resolve(result);
      },
    };
    this.#underWay.add(prompt);
    setImmediate(async () => {
      if (!this.#underWay.has(prompt)) return;
      await work?.();
      await prompt.finish("handled");
    });
    return promise;
  }

  /** The session ends: what is still under way was aborted. */
  async abandon(): Promise<void> {
    for (const prompt of [...this.#underWay]) await prompt.finish("aborted");
  }
}

import type { ReplyWatch } from "@tau-agent/agent";
import type { LoadedRules } from "../resources/rules/load-rules.ts";
import type { StreamRules, WatchedSession } from "./stream-rules.ts";

export interface SessionRulesOptions {
  readonly workingFolder: { readonly cwd: string };
  readonly rules: () => Promise<LoadedRules>;
  /** The session that the rules watch; called when it replies. */
  readonly session: () => WatchedSession;
}

/** A session's stream rules. The code that watches replies is loaded only if there are rules. */
export class SessionRules {
  readonly #options: SessionRulesOptions;
  #watched: StreamRules | undefined;
  /** The rules whose problems have been reported. */
  #told: LoadedRules | undefined;

  constructor(options: SessionRulesOptions) {
    this.#options = options;
  }

  /** Watches the next reply of a run; undefined without rules. */
  async watch(run: AbortSignal): Promise<ReplyWatch | undefined> {
    const session = this.#options.session();
    if (!session.settings.get("ttsr.enabled")) return undefined;
    const loaded = await this.#options.rules();
    if (this.#told !== loaded) {
      this.#told = loaded;
      for (const diagnostic of loaded.diagnostics) session.problems.note(diagnostic);
    }
    if (loaded.rules.length === 0) return undefined;
    if (this.#watched === undefined) {
      const { StreamRules } = await import("./stream-rules.ts");
      this.#watched = new StreamRules(session, this.#options.workingFolder);
    }
    return this.#watched.watch(loaded.rules, run);
  }
}

import type {
  SessionConfigOption,
  SessionModeState,
  SessionUpdate,
} from "@agentclientprotocol/sdk";
import type { AgentSession, PermissionMode } from "@tau-agent/coding-agent";
import type { KnownSessionEntry } from "@tau-agent/rpc-protocol";
import { attempt } from "@tau-agent/system";
import { configOptions, modelValue, modeState, modeWithId } from "../mapping/config.ts";
import { invalidParams } from "../mapping/errors.ts";

const MODE_ENTRY = "tau.acp.mode";

type ChosenSession = Pick<AgentSession, "log" | "models" | "note" | "permissions">;

export class SessionChoices {
  readonly #session: ChosenSession;
  #said: { model: string | undefined; thinking: string; mode: PermissionMode };

  /** Restores the permission mode that the session's log has. */
  constructor(session: ChosenSession) {
    this.#session = session;
    this.#restoreMode();
    this.#said = this.#now;
  }

  async state(): Promise<{ modes: SessionModeState; configOptions: SessionConfigOption[] }> {
    const { mode, ceiling } = this.#session.permissions.state;
    return { modes: modeState(mode, ceiling), configOptions: await this.#options() };
  }

  /**
   * Sets the permission mode and keeps it with the session.
   *
   * @throws {RequestError} -32602 for an unknown mode; {SessionError} `policy_denied`
   */
  setMode(id: string): void {
    const mode = modeWithId(id);
    if (mode === undefined) throw invalidParams("modeId", `there is no mode ${JSON.stringify(id)}`);
    this.#session.permissions.set({ mode });
    this.#session.note(MODE_ENTRY, { mode });
    this.#said = { ...this.#said, mode };
  }

  /**
   * Sets an option and returns all of them.
   *
   * @throws {RequestError} -32602 for an unknown option or value
   */
  async setOption(id: string, value: unknown): Promise<SessionConfigOption[]> {
    const option = (await this.#options()).find((one) => one.id === id);
    if (option?.type !== "select") {
      throw invalidParams("configId", `there is no option ${JSON.stringify(id)}`);
    }
    const isOffered = option.options.some((one) => "value" in one && one.value === value);
    if (typeof value !== "string" || !isOffered) {
      throw invalidParams("value", `${JSON.stringify(value)} is not a value of ${id}`);
    }
    const { models } = this.#session;
    if (id === "thinking") {
      models.setThinkingLevel(value as typeof models.thinkingLevel);
    } else if (models.model === undefined || modelValue(models.model) !== value) {
      const slash = value.indexOf("/");
      await models.set(value.slice(0, slash), value.slice(slash + 1));
    }
    this.#said = this.#now;
    return this.#options();
  }

  /**
   * Updates for what changed since the last call, for instance by an extension. Each update is made when it is sent.
   */
  changes(): (() => SessionUpdate | Promise<SessionUpdate>)[] {
    const before = this.#said;
    const now = this.#now;
    this.#said = now;
    const isMoved = now.mode !== before.mode;
    const isOther = now.model !== before.model || now.thinking !== before.thinking;
    return [
      ...(isMoved
        ? [() => ({ sessionUpdate: "current_mode_update", currentModeId: now.mode }) as const]
        : []),
      ...(isOther ? [() => this.#optionsUpdate()] : []),
    ];
  }

  async #optionsUpdate(): Promise<SessionUpdate> {
    return { sessionUpdate: "config_option_update", configOptions: await this.#options() };
  }

  async #options(): Promise<SessionConfigOption[]> {
    const { models } = this.#session;
    return configOptions({
      model: models.model,
      models: await models.available(),
      thinkingLevel: models.thinkingLevel,
      thinkingLevels: models.thinkingLevels(),
    });
  }

  get #now() {
    const { models, permissions } = this.#session;
    const { model, thinkingLevel: thinking } = models;
    const { mode } = permissions.state;
    return { model: model && modelValue(model), thinking, mode };
  }

  #restoreMode(): void {
    const { log, permissions } = this.#session;
    for (const entry of log.tree.ancestors() as Iterable<KnownSessionEntry>) {
      if (entry.type !== "custom" || entry.customType !== MODE_ENTRY) continue;
      const { mode } = Object(entry.data) as { mode?: unknown };
      const known = typeof mode === "string" ? modeWithId(mode) : undefined;
      // A policy may have become stricter: then its mode applies.
      if (known !== undefined) attempt(() => permissions.set({ mode: known }));
      return;
    }
  }
}

import type { PermissionMode } from "@tau-agent/rpc-protocol";
import type { PermissionChange } from "../../permissions/permission-settings.ts";
import { stricterMode } from "../../permissions/rules/stricter-mode.ts";
import type { SessionPermissions } from "../../permissions/session-permissions.ts";
import type { Subagent } from "../runners/subagent-runner.ts";

export class PermissionShare {
  readonly #permissions: SessionPermissions;
  /** The least strict mode that the subagent's profile allows. */
  readonly #limit: PermissionMode;
  readonly #unfollow: () => void;
  #subagent: Pick<Subagent, "setPermissions" | "stop"> | undefined;
  #isStale = false;

  constructor(permissions: SessionPermissions, limit: PermissionMode = "all") {
    this.#permissions = permissions;
    this.#limit = limit;
    this.#unfollow = permissions.onChange(() => void this.#pass());
  }

  /**
   * The permissions for the subagent. Rules by which the project allows something are left out, because the subagent
   * reads them itself. Its questions have no deadline, because the caller's questions have one. Its profile may only
   * tighten the mode.
   */
  get change(): PermissionChange {
    const { mode, rules } = this.#permissions.state;
    const passed = rules
      .filter(({ source, action }) => source !== "project" || action !== "allow")
      .map(({ source: _, ...rule }) => rule);
    return {
      mode: stricterMode(mode, this.#limit),
      rules: passed,
      onTimeout: "deny",
      timeoutMs: 0,
    };
  }

  /** Passes on changes made while the subagent was starting. */
  async bind(subagent: Pick<Subagent, "setPermissions" | "stop">): Promise<void> {
    this.#subagent = subagent;
    if (this.#isStale) await this.#pass();
  }

  end(): void {
    this.#unfollow();
  }

  /** A subagent that rejects the change is stopped, because it must not continue with its old permissions. */
  async #pass(): Promise<void> {
    this.#isStale = true;
    const subagent = this.#subagent;
    const passed = subagent?.setPermissions?.(this.change);
    await passed?.catch(() => subagent?.stop().catch(() => undefined));
  }
}

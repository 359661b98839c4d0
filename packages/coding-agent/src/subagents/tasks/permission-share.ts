import type { PermissionRule } from "@tau-agent/rpc-protocol";
import type { PermissionChange } from "../../permissions/permission-settings.ts";
import { realPathOf } from "../../permissions/real-path.ts";
import { escapeGlob } from "../../permissions/rules/glob.ts";
import type { SessionPermissions } from "../../permissions/session-permissions.ts";
import type { Subagent } from "../runners/subagent-runner.ts";

/** The folder that the caller's rules are about. */
interface CallerFolder {
  readonly cwd: string;
  readonly homeDirectory: string;
}

/** The permissions of a session for a subagent: at its start, and whenever they change. */
export class PermissionShare {
  readonly #permissions: SessionPermissions;
  readonly #folder: CallerFolder;
  readonly #unfollow: () => void;
  #subagent: Pick<Subagent, "setPermissions" | "stop"> | undefined;
  #isStale = false;

  constructor(permissions: SessionPermissions, folder: CallerFolder) {
    this.#permissions = permissions;
    this.#folder = folder;
    this.#unfollow = permissions.onChange(() => void this.#pass());
  }

  /**
   * What the subagent gets. What a project allows, a subagent in that project allows itself; its
   * questions have no deadline of their own, because the caller's have one.
   */
  get change(): PermissionChange {
    const { mode, rules } = this.#permissions.state;
    const passed = rules
      .filter(({ source, action }) => source !== "project" || action !== "allow")
      .map(({ source: _, ...rule }) => rule);
    return {
      mode,
      rules: [...passed, ...passed.flatMap((rule) => relativeRules(rule, this.#folder))],
      onTimeout: "deny",
      timeoutMs: 0,
    };
  }

  /** Passes on what changed while the subagent started. */
  async bind(subagent: Pick<Subagent, "setPermissions" | "stop">): Promise<void> {
    this.#subagent = subagent;
    if (this.#isStale) await this.#pass();
  }

  /** Stops passing on changes. */
  end(): void {
    this.#unfollow();
  }

  /** One that does not take the change must not go on with what it had. */
  async #pass(): Promise<void> {
    this.#isStale = true;
    const subagent = this.#subagent;
    const passed = subagent?.setPermissions?.(this.change);
    await passed?.catch(() => subagent?.stop().catch(() => undefined));
  }
}

/**
 * A rule for a file of the caller's folder also holds for its copy in the folder of an isolated
 * subagent, whose changes come back.
 */
function relativeRules(
  rule: PermissionRule,
  { cwd, homeDirectory }: CallerFolder,
): PermissionRule[] {
  const { match = "", action } = rule;
  if (action === "allow") return [];
  const pattern = match.startsWith("~/") ? `${homeDirectory}${match.slice(1)}` : match;
  const folders = [cwd, realPathOf(cwd)].flatMap((folder) => [folder, escapeGlob(folder)]);
  const folder = folders.find((each) => pattern.startsWith(`${each}/`));
  return folder === undefined ? [] : [{ ...rule, match: `.${pattern.slice(folder.length)}` }];
}

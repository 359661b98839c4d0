import type {
  OnTimeout,
  PermissionMode,
  PermissionRule,
  SourcedRule,
} from "@tau-agent/rpc-protocol";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import { type Diagnostic, SparseSet } from "@tau-agent/system";
import {
  type PermissionChange,
  type PermissionFile,
  readPermissions,
  type SettledPermissions,
  settlePermissions,
  sourced,
} from "./permission-settings.ts";
import { stricterMode } from "./rules/stricter-mode.ts";

/** The source of permissions: the settings files that exist. */
export interface PermissionSource {
  /** The same list object until something changes. */
  readonly permissionFiles: readonly PermissionFile[];
  readonly isProjectTrusted: boolean;
}

/** The limits that a policy sets for all other sources. */
export interface PermissionCeiling {
  readonly mode?: PermissionMode | undefined;
  /** Rules that ask or deny. */
  readonly rules?: readonly PermissionRule[] | undefined;
}

/** The permissions of a session as clients see them. */
export interface PermissionState {
  readonly mode: PermissionMode;
  readonly rules: readonly SourcedRule[];
  readonly onTimeout: OnTimeout;
  readonly timeoutMs: number;
  /** The policy's mode: rules from other sources allow nothing that it would not. */
  readonly ceiling: PermissionMode | undefined;
  /** The rules that answers added, which may allow what the policy asks about. */
  readonly granted: ReadonlySet<SourcedRule>;
}

/**
 * The mode and the rules of a session: from the settings files, from the embedding program, and
 * from the session itself. Each may change at any time.
 */
export class SessionPermissions {
  readonly #source: PermissionSource;
  readonly #host: PermissionChange;
  readonly #ceiling: PermissionCeiling;
  readonly #listeners = new SparseSet<() => void>();
  #own: PermissionChange = {};
  /** The rules that answers added "for this session". */
  #granted: readonly PermissionRule[] = [];
  #settled: { files: readonly PermissionFile[]; isTrusted: boolean; value: SettledPermissions };
  #state: PermissionState | undefined;

  /** @throws {SessionError} `policy_denied` if the host's mode is less strict than the policy's */
  constructor(
    source: PermissionSource,
    host: PermissionChange = {},
    ceiling: PermissionCeiling = {},
  ) {
    this.#source = source;
    this.#host = host;
    this.#ceiling = ceiling;
    this.#refuseLooser(host);
    this.#settled = this.#settle();
  }

  /** Problems in settings files. */
  get diagnostics(): readonly Diagnostic[] {
    const { permissionFiles } = this.#source;
    const looser = permissionFiles.flatMap(({ path, value }) => {
      const { mode } = readPermissions(value).change;
      return this.#isLooser(mode) ? [looserMode(path, String(mode), this.#ceiling)] : [];
    });
    return [...this.#files.diagnostics, ...looser];
  }

  /** The current mode, rules and time limit of approvals; the same object until they change. */
  get state(): PermissionState {
    const files = this.#files;
    const granted = sourced(this.#granted, "session");
    this.#state ??= {
      mode: stricterMode(this.#own.mode ?? this.#hostMode(files), this.#ceiling.mode ?? "all"),
      ceiling: this.#ceiling.mode,
      rules: [
        ...sourced(this.#ceiling.rules, "policy"),
        ...files.rules,
        ...sourced(this.#host.rules, "host"),
        ...sourced(this.#own.rules, "session"),
        ...granted,
      ],
      granted: new Set(granted),
      onTimeout: this.#own.onTimeout ?? this.#host.onTimeout ?? files.onTimeout,
      timeoutMs: this.#own.timeoutMs ?? this.#host.timeoutMs ?? files.timeoutMs,
    };
    return this.#state;
  }

  /** Whether every call is allowed without being judged. */
  get allowsAll(): boolean {
    const { mode, rules } = this.state;
    return mode === "all" && rules.every(({ action }) => action === "allow");
  }

  /**
   * Changes the permissions of this session; absent members stay the same.
   *
   * @throws {SessionError} `policy_denied` if the mode is less strict than the policy's
   */
  set(change: PermissionChange): void {
    this.#refuseLooser(change);
    const given = Object.entries(change).filter(([, value]) => value !== undefined);
    // New rules of the session also replace those that answers added.
    if (change.rules !== undefined) this.#granted = [];
    this.#own = { ...this.#own, ...Object.fromEntries(given) };
    this.#changed();
  }

  /** Adds rules that last as long as this session. */
  add(rules: readonly PermissionRule[]): void {
    const own = [...(this.#own.rules ?? []), ...this.#granted];
    const known = new Set(own.map((rule) => JSON.stringify(rule)));
    const added = rules.filter((rule) => !known.has(JSON.stringify(rule)));
    if (added.length === 0) return;
    this.#granted = [...this.#granted, ...added];
    this.#changed();
  }

  /** Drops what answers allowed when another session begins. The client's mode and rules stay. */
  endGrants(): void {
    if (this.#granted.length === 0) return;
    this.#granted = [];
    this.#changed();
  }

  /** Calls the listener after each change; returns the function that removes it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** To be called when the settings files have changed. */
  refresh(): void {
    this.#changed();
  }

  #isLooser(mode: PermissionMode | undefined): boolean {
    const { mode: least = "all" } = this.#ceiling;
    return mode !== undefined && stricterMode(mode, least) !== mode;
  }

  #refuseLooser({ mode }: PermissionChange): void {
    if (!this.#isLooser(mode)) return;
    const reason = `by the host's policy, the mode is "${this.#ceiling.mode}" or stricter, not "${mode}"`;
    throw new SessionError("policy_denied", { member: "permissions.mode", reason });
  }

  get #files(): SettledPermissions {
    const { permissionFiles, isProjectTrusted } = this.#source;
    const { files, isTrusted } = this.#settled;
    if (files !== permissionFiles || isTrusted !== isProjectTrusted) {
      this.#settled = this.#settle();
      this.#state = undefined;
    }
    return this.#settled.value;
  }

  #hostMode({ mode, isDamaged }: SettledPermissions): PermissionMode {
    const given = this.#host.mode;
    if (given === undefined) return mode;
    return isDamaged ? stricterMode(given, "ask") : given;
  }

  #settle() {
    const { permissionFiles: files, isProjectTrusted: isTrusted } = this.#source;
    return { files, isTrusted, value: settlePermissions(files, isTrusted) };
  }

  #changed(): void {
    this.#state = undefined;
    for (const listener of this.#listeners) listener();
  }
}

function looserMode(path: string, mode: string, { mode: least }: PermissionCeiling): Diagnostic {
  const message = `permissions.mode is "${mode}", and the host's policy says "${least}", which counts. (in ${path})`;
  return { severity: "warning", code: "policy_denied", member: "permissions.mode", message, path };
}

import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import type { KnownSessionEntry, SessionEntry, SessionTreeNode } from "@tau-agent/rpc-protocol";
import type { UserMessage } from "@tau-agent/rpc-protocol/messages";
import type { BranchSummary } from "./compaction/branch-summary.ts";
import { SessionError } from "./errors.ts";
import type { SessionInfo } from "./session/list-sessions.ts";
import type { SessionLog } from "./session/session-log.ts";

/** What {@link SessionNavigation} needs of the session it belongs to. */
export interface NavigationOptions {
  readonly cwd: string;
  readonly sessionDirectory: string | undefined;
  readonly sessionsRoot: string;
  readonly log: () => SessionLog;
  /** Makes an empty log in the same place. */
  readonly createLog: (options: { parentSession?: string | undefined }) => SessionLog;
  /** Opens an existing session file. */
  readonly openLog: (path: string) => Promise<SessionLog>;
  /** Ends what runs and goes on with another log; `isContinued` restores its model and level. */
  readonly replaceLog: (next: () => SessionLog, isContinued: boolean) => Promise<void>;
  /** Rebuilds the conversation after the leaf has moved. */
  readonly rebuild: () => void;
  /** Does work that no run may overlap, after ending the one that is on. */
  readonly perform: <T>(work: (signal: AbortSignal) => Promise<T>) => Promise<T>;
  /** Summarises the entries of a branch that is left. */
  readonly summarizeBranch: (
    entries: readonly SessionEntry[],
    options: BranchSummaryOptions,
    signal: AbortSignal,
  ) => Promise<BranchSummary>;
}

/** How a branch that is left is summarised. */
export interface BranchSummaryOptions {
  readonly customInstructions?: string | undefined;
  /** Whether the custom instructions stand instead of the usual ones. */
  readonly replaceInstructions?: boolean | undefined;
}

/** How {@link SessionNavigation.navigate} moves. */
export interface NavigateOptions extends BranchSummaryOptions {
  readonly summarize?: boolean | undefined;
  readonly label?: string | undefined;
}

/** Moves between sessions and within the tree of one. */
export class SessionNavigation {
  readonly #options: NavigationOptions;

  constructor(options: NavigationOptions) {
    this.#options = options;
  }

  /** Leaves the conversation and begins an empty one; `parentSession` is recorded, not opened. */
  async newSession(parentSession?: string): Promise<{ cancelled: boolean }> {
    const { createLog, replaceLog } = this.#options;
    await replaceLog(() => createLog({ parentSession }), false);
    return { cancelled: false };
  }

  /**
   * Continues another session file.
   *
   * @throws {SessionError} `session_not_found`, `session_invalid`, `session_locked`: the session is as
   *   it was, and goes on.
   */
  async switchSession(path: string): Promise<{ cancelled: boolean }> {
    const { cwd, log, openLog, replaceLog } = this.#options;
    const wanted = resolve(cwd, path);
    if (isSameFile(wanted, log().path)) return { cancelled: false };
    const next = await openLog(wanted);
    try {
      await replaceLog(() => next, true);
    } catch (error) {
      next.close();
      throw error;
    }
    return { cancelled: false };
  }

  /** The user messages of the current branch, oldest first. */
  forkMessages(): { entryId: string; text: string }[] {
    return this.#options
      .log()
      .tree.branch()
      .flatMap((entry) => {
        const message = userMessageOf(entry);
        return message === undefined ? [] : [{ entryId: entry.id, text: textOf(message) }];
      });
  }

  /**
   * Begins a new session with the branch up to just before a user message, or with `position: "at"`
   * up to and with any entry. The old file stays as it is.
   *
   * @returns the text of the message, for the user to change
   * @throws {SessionError} `invalid_fork_entry`
   */
  async fork(
    entryId: string,
    { position = "before" }: { position?: "before" | "at" } = {},
  ): Promise<{ text: string; cancelled: boolean }> {
    const log = this.#options.log();
    const entry = log.tree.get(entryId);
    const message = entry && userMessageOf(entry);
    if (entry === undefined || (message === undefined && position === "before")) {
      throw new SessionError("invalid_fork_entry");
    }
    await this.#branchOff(log, () => (position === "at" ? entry.id : entry.parentId));
    return { text: message === undefined ? "" : textOf(message), cancelled: false };
  }

  /** Begins a new session with a copy of the current branch. */
  async clone(): Promise<{ cancelled: boolean }> {
    const log = this.#options.log();
    await this.#branchOff(log, () => log.tree.leafId);
    return { cancelled: false };
  }

  /** The sessions of this project's folder, the latest first; with `all`, those of every project. */
  async list({ all = false }: { all?: boolean | undefined } = {}): Promise<SessionInfo[]> {
    const { sessionDirectory, sessionsRoot } = this.#options;
    const { listAllSessions, listSessions } = await import("./session/list-sessions.ts");
    if (all) return listAllSessions(sessionsRoot);
    return sessionDirectory === undefined ? [] : listSessions(sessionDirectory);
  }

  /**
   * Deletes a session file that nobody uses, this session included.
   *
   * @throws {SessionError} `session_not_found`, `session_invalid`, `session_locked`
   */
  async delete(path: string): Promise<void> {
    const { cwd } = this.#options;
    const { deleteSession } = await import("./session/delete-session.ts");
    await deleteSession(resolve(cwd, path));
  }

  /** Entries in the order of the file; those after `since` when it is given. */
  entries(since?: string): { entries: SessionEntry[]; leafId: string | null } {
    const { tree } = this.#options.log();
    if (since === undefined) return { entries: [...tree.entries], leafId: tree.leafId };
    const index = tree.indexOf(since);
    if (index === undefined) throw new SessionError("entry_not_found", { entryId: since });
    return { entries: tree.entries.slice(index + 1), leafId: tree.leafId };
  }

  /** The whole tree; entries whose parent is not there are roots. */
  tree(): { tree: SessionTreeNode[]; leafId: string | null } {
    const { tree } = this.#options.log();
    return { tree: buildTree(tree.entries), leafId: tree.leafId };
  }

  /**
   * Goes on from another entry of the tree. From a user message the conversation goes back to just
   * before it, and its text is returned for the user to change.
   *
   * @throws {SessionError} `entry_not_found`, `summary_failed`, `compaction_cancelled`
   */
  navigate(
    targetId: string,
    options: NavigateOptions = {},
  ): Promise<{ text?: string; cancelled: boolean }> {
    const { log, perform, rebuild, summarizeBranch } = this.#options;
    return perform(async (signal) => {
      const current = log();
      const target = current.tree.get(targetId);
      if (target === undefined) throw new SessionError("entry_not_found", { entryId: targetId });
      const message = userMessageOf(target);
      const leafId = message === undefined ? target.id : target.parentId;
      const left = current.tree.leafId;
      const abandoned = abandonedEntries(current, leafId);
      const summary =
        options.summarize && abandoned.length > 0
          ? await summarizeBranch(abandoned, options, signal)
          : undefined;
      current.tree.moveLeaf(leafId);
      try {
        if (summary !== undefined) current.append({ ...summary, fromId: left ?? "root" });
        if (options.label) current.append({ type: "label", targetId, label: options.label });
      } catch (error) {
        current.tree.moveLeaf(left);
        throw error;
      }
      rebuild();
      return { ...(message === undefined ? {} : { text: textOf(message) }), cancelled: false };
    });
  }

  /**
   * Gives an entry a label; without one, takes it away.
   *
   * @throws {SessionError} `entry_not_found`
   */
  setLabel(targetId: string, label: string | undefined): void {
    const log = this.#options.log();
    if (log.tree.get(targetId) === undefined) {
      throw new SessionError("entry_not_found", { entryId: targetId });
    }
    const clean = label?.trim();
    log.append({ type: "label", targetId, ...(clean ? { label: clean } : {}) });
  }

  async #branchOff(log: SessionLog, leafOf: () => string | null): Promise<void> {
    const { createLog, replaceLog } = this.#options;
    await replaceLog(() => {
      // Read only now: ending the run has recorded the results of the calls that were under way.
      const leafId = leafOf();
      const branch = leafId === null ? [] : log.tree.branch(leafId);
      const labels = labelsOf(log.tree.entries, new Set(branch.map(({ id }) => id)));
      const next = createLog({ parentSession: log.path });
      next.takeOver(branch);
      for (const [targetId, label] of labels) next.append({ type: "label", targetId, label });
      return next;
    }, false);
  }
}

function userMessageOf(entry: SessionEntry): UserMessage | undefined {
  const known = entry as KnownSessionEntry;
  return known.type === "message" && known.message.role === "user" ? known.message : undefined;
}

function textOf({ content }: UserMessage): string {
  if (typeof content === "string") return content;
  return content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

/** What hangs between the leaf and the branch that the new leaf is on. */
function abandonedEntries({ tree }: SessionLog, newLeafId: string | null): SessionEntry[] {
  const kept = new Set(newLeafId === null ? [] : tree.branch(newLeafId).map(({ id }) => id));
  return tree.branch().filter(({ id }) => !kept.has(id));
}

function labelsOf(entries: readonly SessionEntry[], ids: ReadonlySet<string>): Map<string, string> {
  const labels = new Map<string, string>();
  for (const entry of entries as readonly KnownSessionEntry[]) {
    if (entry.type !== "label" || !ids.has(entry.targetId)) continue;
    if (entry.label) labels.set(entry.targetId, entry.label);
    else labels.delete(entry.targetId);
  }
  return labels;
}

function buildTree(entries: readonly SessionEntry[]): SessionTreeNode[] {
  const labels = new Map<string, { label: string; labelTimestamp: string }>();
  for (const entry of entries as readonly KnownSessionEntry[]) {
    if (entry.type !== "label") continue;
    if (entry.label)
      labels.set(entry.targetId, { label: entry.label, labelTimestamp: entry.timestamp });
    else labels.delete(entry.targetId);
  }
  const nodes = new Map<string, SessionTreeNode>();
  for (const entry of entries)
    nodes.set(entry.id, { entry, children: [], ...labels.get(entry.id) });
  const roots: SessionTreeNode[] = [];
  for (const node of nodes.values()) {
    const parent = node.entry.parentId === null ? undefined : nodes.get(node.entry.parentId);
    if (parent === undefined || parent === node) roots.push(node);
    else parent.children.push(node);
  }
  return roots;
}

function isSameFile(path: string, other: string | undefined): boolean {
  if (other === undefined) return false;
  try {
    return realpathSync(path) === realpathSync(other);
  } catch {
    return path === other;
  }
}

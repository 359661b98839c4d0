import { setImmediate as nextTurn } from "node:timers/promises";
import type { SessionEntry, SessionTreeNode } from "@tau-agent/rpc-protocol";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import {
  answerLeftCalls,
  buildTree,
  type Conversation,
  labelsOf,
  type NewSession,
  type SessionHome,
  type SessionInfo,
  type SessionLog,
  type UserText,
  UserTexts,
  userMessageOf,
  userText,
} from "@tau-agent/sessions/log";
import type { SummarizerOptions } from "../compaction/summarize.ts";
import { accountForSummary } from "../compaction/summary-costs.ts";
import type {
  ChangeDetail,
  SessionChange,
  SessionHooks,
  TreeDecision,
} from "../run/session-hooks.ts";

export interface NavigationOptions {
  readonly cwd: string;
  readonly hooks?: SessionHooks | undefined;
  readonly conversation: Conversation;
  readonly createLog: (session: Omit<NewSession, "cwd">) => SessionLog;
  /** Ends the current work and switches to another log; `isContinued` restores its model and level. */
  readonly replaceLog: (next: () => SessionLog, isContinued: boolean) => Promise<void>;
  readonly home: SessionHome;
  /** A folder on this machine for a session whose own folder is remote. */
  readonly folderHere: string | undefined;
  /** Does work that no run may overlap, after ending the current run. */
  readonly perform: <T>(work: (signal: AbortSignal) => Promise<T>) => Promise<T>;
  /** Called when another session continues, so that its open questions are repeated. */
  readonly onContinued: () => void;
  readonly summarizer: SummarizerOptions;
}

interface BranchSummaryOptions {
  readonly customInstructions?: string | undefined;
  /** Whether the custom instructions replace the default ones. */
  readonly replaceInstructions?: boolean | undefined;
}

export interface NavigateOptions extends BranchSummaryOptions {
  readonly summarize?: boolean | undefined;
  readonly label?: string | undefined;
}

/** Moves between sessions and within the tree of a session. */
export class SessionNavigation {
  readonly #options: NavigationOptions;
  #underWay: Promise<unknown> | undefined;
  #userTexts: WeakRef<UserTexts> | undefined;

  constructor(options: NavigationOptions) {
    this.#options = options;
  }

  /**
   * Resolves once another session has replaced this one, or the change was cancelled; undefined if
   * no change is in progress. Commands for the session after the change wait for this.
   */
  get underWay(): Promise<unknown> | undefined {
    return this.#underWay;
  }

  /** Leaves the conversation and begins an empty one; `parentSession` is recorded, not opened. */
  newSession(
    parentSession?: string,
    setup?: (log: SessionLog) => void | Promise<void>,
  ): Promise<{ cancelled: boolean }> {
    const { createLog, replaceLog } = this.#options;
    const replace = async () => {
      const next = setup && createLog({ parentSession });
      if (next !== undefined) await setup?.(next);
      await replaceLog(() => next ?? createLog({ parentSession }), false);
    };
    return this.#note(this.#change("new", {}, replace));
  }

  /**
   * Continues another session file.
   *
   * @throws {SessionError} `session_not_found`, `session_invalid`, `session_locked`, and for the
   *   current one `session_changed`; in these cases the current session stays usable.
   */
  switchSession(path: string): Promise<{ cancelled: boolean }> {
    return this.#note(this.#switch(path));
  }

  async #switch(path: string): Promise<{ cancelled: boolean }> {
    const { cwd, conversation, replaceLog, home } = this.#options;
    const { log } = conversation;
    const wanted = home.nameOf(path, cwd);
    if (await this.#isCancelled("resume", { targetPath: wanted })) return { cancelled: true };
    if (home.isNamed(log, wanted)) {
      log.check();
      return { cancelled: false };
    }
    const next = await conversation.open(wanted);
    try {
      return await this.#enter("resume", () => replaceLog(() => next, true), wanted);
    } catch (error) {
      await next.close();
      throw error;
    }
  }

  /** Remembers a change until it is over and its caller has been answered. */
  #note<Result>(change: Promise<Result>): Promise<Result> {
    const over: Promise<void> = change.then(nextTurn, nextTurn).then(() => {
      if (this.#underWay === over) this.#underWay = undefined;
    });
    this.#underWay = over;
    return change;
  }

  async #change(
    change: SessionChange,
    detail: ChangeDetail,
    replace: () => Promise<void>,
  ): Promise<{ cancelled: boolean }> {
    if (this.#options.hooks === undefined) {
      // Not deferred, so that the next prompt belongs to the new session.
      await replace();
      return { cancelled: false };
    }
    if (await this.#isCancelled(change, detail)) return { cancelled: true };
    return this.#enter(change, replace, detail.targetPath);
  }

  /** Whether an extension cancels a change, before anything has happened. */
  async #isCancelled(change: SessionChange, detail: ChangeDetail): Promise<boolean> {
    return (await this.#options.hooks?.isCancelled(change, detail)) ?? false;
  }

  async #enter(
    change: SessionChange,
    replace: () => Promise<void>,
    targetPath?: string,
  ): Promise<{ cancelled: boolean }> {
    const { hooks, conversation } = this.#options;
    const previousPath = conversation.log.path;
    await hooks?.leave(change, targetPath);
    await replace();
    await hooks?.enter(change, previousPath);
    if (change === "resume") this.#options.onContinued();
    return { cancelled: false };
  }

  /** The user messages of the current branch, oldest first. */
  forkMessages(): UserText[] {
    return this.userTexts.toJSON();
  }

  /** The same as a list with cached JSON; an unchanged list is serialised once. */
  get userTexts(): UserTexts {
    const { tree } = this.#options.conversation.log;
    const known = this.#userTexts?.deref();
    if (known?.isOf(tree)) return known;
    const texts = new UserTexts(tree);
    this.#userTexts = new WeakRef(texts);
    return texts;
  }

  /**
   * Begins a new session with the branch up to just before a user message, or with `position: "at"`
   * up to and including any entry. The old file stays unchanged.
   *
   * @returns the text of the message, for the user to edit
   * @throws {SessionError} `invalid_fork_entry`
   */
  async fork(
    entryId: string,
    { position = "before" }: { position?: "before" | "at" } = {},
  ): Promise<{ text: string; cancelled: boolean }> {
    const { log } = this.#options.conversation;
    const entry = log.tree.get(entryId);
    const message = entry && userMessageOf(entry);
    if (entry === undefined || (message === undefined && position === "before")) {
      throw new SessionError("invalid_fork_entry");
    }
    const leafOf = () => (position === "at" ? entry.id : entry.parentId);
    const detail = { entryId, position };
    const change = this.#change("fork", detail, () => this.#branchOff(log, leafOf));
    const { cancelled } = await this.#note(change);
    return { text: message === undefined ? "" : userText(message), cancelled };
  }

  /** Begins a new session with a copy of the current branch. */
  async clone(): Promise<{ cancelled: boolean }> {
    const { log } = this.#options.conversation;
    const entryId = log.tree.leafId ?? undefined;
    const branchOff = () => this.#branchOff(log, () => log.tree.leafId);
    return this.#note(this.#change("fork", { entryId, position: "at" }, branchOff));
  }

  /** The sessions of this project's folder, the latest first; with `all`, those of all projects. */
  list({ all = false }: { all?: boolean | undefined } = {}): Promise<SessionInfo[]> {
    return this.#options.home.list({ all });
  }

  /** Reads the session of a subagent that the result of its call names; undefined if it is missing. */
  readSubagent(
    ...named: Parameters<SessionHome["readSubagent"]>
  ): ReturnType<SessionHome["readSubagent"]> {
    return this.#options.home.readSubagent(...named);
  }

  /** A folder on this machine for a session whose own is remote; otherwise undefined. */
  get folderHere(): string | undefined {
    return this.#options.folderHere;
  }

  /**
   * Deletes a session that is not in use; the current one counts as in use.
   *
   * @throws {SessionError} `session_not_found`, `session_invalid`, `session_locked`
   */
  async delete(path: string): Promise<void> {
    const { cwd, home, conversation } = this.#options;
    const name = home.nameOf(path, cwd);
    if (home.isNamed(conversation.log, name)) {
      throw new SessionError("session_locked", { path: name, owner: String(process.pid) });
    }
    await home.delete(name);
  }

  /** Entries in file order; with `since`, only later ones. */
  entries(since?: string): { entries: SessionEntry[]; leafId: string | null } {
    const { tree } = this.#options.conversation.log;
    if (since === undefined) return { entries: [...tree.entries], leafId: tree.leafId };
    const index = tree.indexOf(since);
    if (index === undefined) throw new SessionError("entry_not_found", { entryId: since });
    return { entries: tree.slice(index + 1), leafId: tree.leafId };
  }

  /** The whole tree; entries whose parent is missing are roots. */
  tree(): { tree: SessionTreeNode[]; leafId: string | null } {
    const { tree } = this.#options.conversation.log;
    return { tree: buildTree(tree.entries), leafId: tree.leafId };
  }

  /**
   * Continues from another entry of the tree. From a user message the conversation goes back to
   * just before it, and its text is returned for the user to edit.
   *
   * @throws {SessionError} `entry_not_found`, `summary_failed`, `compaction_cancelled`
   */
  async navigate(
    targetId: string,
    options: NavigateOptions = {},
  ): Promise<{ text?: string; cancelled: boolean }> {
    const { hooks, conversation, perform, summarizer } = this.#options;
    const find = (): SessionEntry => {
      const entry = conversation.log.tree.get(targetId);
      if (entry === undefined) throw new SessionError("entry_not_found", { entryId: targetId });
      return entry;
    };
    // Checks the entry before anything is stopped.
    find();
    return perform(async (signal) => {
      const current = conversation.log;
      const target = find();
      const message = userMessageOf(target);
      const leafId = message === undefined ? target.id : target.parentId;
      const left = current.tree.leafId;
      const abandoned = abandonedEntries(current, leafId);
      const decided = await hooks?.decideMove(
        {
          targetId,
          oldLeafId: left,
          commonAncestorId: commonAncestor(current, leafId),
          entriesToSummarize: abandoned,
          userWantsSummary: options.summarize ?? false,
          customInstructions: options.customInstructions,
          replaceInstructions: options.replaceInstructions,
          label: options.label,
        },
        signal,
      );
      if (decided?.cancel) return { cancelled: true };
      const { label, ...instructions } = { ...options, ...decided };
      const account = { conversation, budget: summarizer.budget };
      const summaryEntry = await accountForSummary(account, async (note, total) => {
        const summary =
          options.summarize && abandoned.length > 0
            ? (ownSummary(decided) ??
              (await summarize(abandoned, instructions, signal, { ...summarizer, note })))
            : undefined;
        const usage = total();
        const entry = summary && { ...summary, fromId: left ?? "root", ...(usage && { usage }) };
        return conversation.moveTo({ leafId, entry, label, targetId });
      });
      await hooks?.noteMove(left, summaryEntry, decided?.summary !== undefined);
      return { ...(message === undefined ? {} : { text: userText(message) }), cancelled: false };
    });
  }

  /**
   * Labels an entry; without a label, removes it.
   *
   * @throws {SessionError} `entry_not_found`
   */
  setLabel(targetId: string, label: string | undefined): void {
    const { conversation } = this.#options;
    if (conversation.log.tree.get(targetId) === undefined) {
      throw new SessionError("entry_not_found", { entryId: targetId });
    }
    const clean = label?.trim();
    conversation.append({ type: "label", targetId, ...(clean ? { label: clean } : {}) });
  }

  async #branchOff(log: SessionLog, leafOf: () => string | null): Promise<void> {
    const { createLog, replaceLog } = this.#options;
    await replaceLog(() => {
      // Read after the run has ended, because ending it records the results of pending calls.
      const leafId = leafOf();
      const next = createLog({ parentSession: log.reference });
      next.takeOverBranch(log, leafId);
      const labels = labelsOf(log.tree.parsed, next.tree);
      answerLeftCalls(next);
      for (const [targetId, label] of labels) next.append({ type: "label", targetId, label });
      return next;
    }, false);
  }
}

/** The entry nearest to the leaf that is also an ancestor of the new leaf. */
function commonAncestor({ tree }: SessionLog, newLeafId: string | null): string | null {
  const kept = new Set(newLeafId === null ? [] : tree.branch(newLeafId).map(({ id }) => id));
  return tree.branch().findLast(({ id }) => kept.has(id))?.id ?? null;
}

/** A summary that an extension provided. */
function ownSummary(decided: TreeDecision | undefined) {
  if (decided?.summary === undefined) return undefined;
  return { type: "branch_summary" as const, ...decided.summary, fromHook: true };
}

/** The entries between the leaf and the branch of the new leaf. */
function abandonedEntries({ tree }: SessionLog, newLeafId: string | null): SessionEntry[] {
  const kept = new Set(newLeafId === null ? [] : tree.branch(newLeafId).map(({ id }) => id));
  return tree.branch().filter(({ id }) => !kept.has(id));
}

// Loaded on demand, because most hosts never summarise a branch (bench row `start`).
const summarize: typeof import("../compaction/branch-summary.ts").summarizeBranch = async (...of) =>
  (await import("../compaction/branch-summary.ts")).summarizeBranch(...of);

import { isUtf8 } from "node:buffer";
import type { KnownSessionEntry, SessionEntry } from "@tau-agent/rpc-protocol";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import { isFallbackEntry } from "./fallback-note.ts";
import {
  type CompactionEntry,
  type ContextItem,
  collectMessages,
  latestLevel,
  latestModel,
  messageOf,
  type ResumedModel,
  type SessionContext,
  summaryMessage,
} from "./session-context.ts";
import type { RoleFilter, SessionTree } from "./session-tree.ts";

type BranchReader = Pick<
  SessionTree,
  | "at"
  | "roleAt"
  | "indexOf"
  | "leafId"
  | "branchPositions"
  | "positions"
  | "parsed"
  | "ancestors"
  | "messagesAt"
  | "messageLists"
  | "idAt"
>;

/**
 * Builds the conversation of a branch of a tree, without reading messages before the latest
 * compaction (rows "100 000 entries compacted near the end").
 */
export function contextOfBranch(
  tree: BranchReader,
  leafId: string | null = tree.leafId,
): SessionContext {
  const { compaction, before, counting: all } = countingPositions(tree, leafId);
  const isInMemory = (position: number) => tree.roleAt(position) === undefined;
  const parsed = [...before(), ...all.filter(isInMemory)];
  const others = parsed.map((position) => tree.at(position) as SessionEntry);
  // Context edits name entries, so whole entries are needed.
  const hasEdits = others.some((entry) => entry.type === "context_edit");
  const counting = all.filter((position) => position !== compaction);
  const found = collectMessages({
    compaction: compaction === undefined ? undefined : (tree.at(compaction) as CompactionEntry),
    items: hasEdits
      ? counting.map((position) => tree.at(position) as SessionEntry)
      : itemsAt(tree, counting),
    others,
  });
  return { ...found, ...resumedModel(tree, leafId) };
}

/** The model and thinking level with which a branch continues. */
export function resumedModel(
  tree: Pick<SessionTree, "ancestors" | "leafId" | "parsed">,
  leafId: string | null = tree.leafId,
): ResumedModel {
  const isReply: RoleFilter = (role) =>
    role === undefined || role === "assistant" || role === "failedAssistant";
  return {
    // In two passes: a level is usually set at the beginning of a session, not by messages. Most
    // sessions of other hosts set none, which is known without walking to the root.
    thinkingLevel: tree.parsed.some(({ type }) => type === "thinking_level_change")
      ? latestLevel(tree.ancestors(leafId, isParsed))
      : undefined,
    ...latestModel(
      tree.ancestors(leafId, isReply),
      // Most sessions have never used a fallback model.
      tree.parsed.some((entry) => isFallbackEntry(entry as KnownSessionEntry))
        ? tree.ancestors(leafId, isParsed)
        : [],
    ),
  };
}

const isParsed: RoleFilter = (role) => role === undefined;

/** A branch without the messages that its latest compaction replaces, oldest first. */
export function entriesForContext(
  tree: BranchReader,
  leafId: string | null = tree.leafId,
): SessionEntry[] {
  const { before, counting } = countingPositions(tree, leafId);
  return [...before(), ...counting].map((position) => tree.at(position) as SessionEntry);
}

/** Usual messages are read together, without their entries. */
function itemsAt(tree: BranchReader, positions: readonly number[]): ContextItem[] {
  const isScanned = (position: number) => tree.roleAt(position) !== undefined;
  const messages = tree.messagesAt(positions.filter(isScanned)).values();
  return positions.map((position) => {
    const role = tree.roleAt(position);
    if (role === undefined) return tree.at(position) as SessionEntry;
    const scanned = messages.next().value as AgentMessage;
    return role === "toolResult" ? { scanned, resultId: tree.idAt(position) } : { scanned };
  });
}

/** The positions on a branch, oldest first, that matter for its context. */
interface CountingPositions {
  /** The position of the latest compaction. */
  readonly compaction: number | undefined;
  /** The positions of parsed entries before those in `counting`; takes a walk to the root. */
  readonly before: () => readonly number[];
  /** The positions of entries whose messages count. */
  readonly counting: readonly number[];
}

/**
 * Leaves out the messages that the latest compaction replaces. The walk ends at the first kept message, so
 * that a long past costs little (rows `compacted-get-messages`, `compacted-get-state`).
 */
function countingPositions(tree: BranchReader, leafId: string | null): CountingPositions {
  if (!tree.parsed.some(({ type }) => type === "compaction")) {
    return { compaction: undefined, before: () => [], counting: tree.branchPositions(leafId) };
  }
  const walked: number[] = [];
  let found: { readonly position: number; readonly keptId: string } | undefined;
  let end = 0;
  for (const position of tree.positions(leafId)) {
    walked.push(position);
    if (found === undefined) {
      const entry = tree.roleAt(position) === undefined ? tree.at(position) : undefined;
      end = walked.length;
      if (entry?.type !== "compaction") continue;
      found = { position, keptId: (entry as CompactionEntry).firstKeptEntryId };
      if (tree.indexOf(found.keptId) === undefined) break;
    }
    if (tree.idAt(position) !== found.keptId) continue;
    end = walked.length;
    break;
  }
  const counting = walked.slice(0, end).reverse();
  const before = () => {
    if (found === undefined) return [];
    const known = new Set(counting);
    return tree.branchPositions(leafId, isParsed).filter((position) => !known.has(position));
  };
  return { compaction: found?.position, before, counting };
}

/**
 * The number of messages that {@link contextOfBranch} finds; undefined if counting them requires
 * reading them (row "100 000 entries: spawn").
 */
export function countMessages(tree: BranchReader, leafId: string | null): number | undefined {
  const { compaction, before, counting } = countingPositions(tree, leafId);
  if (before().some((position) => changesContext(tree.at(position)))) return undefined;
  let count = compaction === undefined ? 0 : 1;
  for (const position of counting) {
    const role = tree.roleAt(position);
    // A failed reply does not count if it was retried or stopped by a stream rule, which only reading tells.
    if (role === "failedAssistant") return undefined;
    if (role !== undefined) {
      count += 1;
      continue;
    }
    const entry = tree.at(position);
    if (changesContext(entry)) return undefined;
    if (messageOf(entry as SessionEntry) !== undefined) count += 1;
  }
  return count;
}

/** Whether an entry may decide which other messages count. */
function changesContext(entry: SessionEntry | undefined): boolean {
  const known = entry as KnownSessionEntry;
  return known.type === "context_edit" || isFailedReply(known);
}

function isFailedReply(entry: KnownSessionEntry): boolean {
  if (entry.type !== "message" || entry.message.role !== "assistant") return false;
  return entry.message.stopReason === "error" || entry.message.stopReason === "aborted";
}

/** The messages of a branch as stored in the file, for clients that get them unchanged. */
export class StoredMessages {
  readonly #tree: BranchReader;
  readonly #leafId: string | null;

  constructor(tree: BranchReader, leafId: string | null) {
    this.#tree = tree;
    this.#leafId = leafId;
  }

  /**
   * The messages as the bytes of a JSON list, without decoding or parsing the usual ones (row `session-get-messages`).
   */
  get json(): readonly Buffer[] {
    const { compaction, counting } = countingPositions(this.#tree, this.#leafId);
    const parts: Buffer[] = [];
    const add = (list: string | Buffer) => {
      parts.push(Buffer.from(parts.length === 0 ? "[" : ","), utf8(list));
    };
    if (compaction !== undefined) {
      add(JSON.stringify(summaryMessage(this.#tree.at(compaction) as CompactionEntry)));
    }
    let run: number[] = [];
    const endRun = () => {
      if (run.length > 0) for (const list of this.#tree.messageLists(run)) add(list);
      run = [];
    };
    for (const position of counting) {
      if (this.#tree.roleAt(position) !== undefined) run.push(position);
      else {
        endRun();
        const message = messageOf(this.#tree.at(position) as SessionEntry);
        if (message !== undefined) add(JSON.stringify(message));
      }
    }
    endRun();
    parts.push(Buffer.from(parts.length === 0 ? "[]" : "]"));
    return parts;
  }

  /** Like the method of a list. */
  map<Result>(change: (message: AgentMessage) => Result): Result[] {
    return this.toJSON().map((message) => change(message));
  }

  toJSON(): AgentMessage[] {
    return contextOfBranch(this.#tree, this.#leafId).messages;
  }
}

/** Replaces bytes that are not valid UTF-8 by replacement characters. */
export function utf8(list: string | Buffer): Buffer {
  if (typeof list !== "string" && isUtf8(list)) return list;
  return Buffer.from(list.toString());
}

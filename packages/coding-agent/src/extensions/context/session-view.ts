import { dirname } from "node:path";
import type { KnownSessionEntry, SessionEntry } from "@tau-agent/rpc-protocol";
import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";
import { buildSessionContext, contextEntries, type SessionLog } from "@tau-agent/sessions/log";
import type { ReadonlySession, SessionSetup, SessionTreeNode } from "../api/context.ts";

/** A read-only view of a session for extensions; `log` is called on each access. */
function sessionView(log: () => SessionLog): ReadonlySession {
  const tree = () => log().tree;
  return {
    getCwd: () => log().header.cwd,
    getSessionDir: () => dirname(log().path ?? log().header.cwd),
    getSessionId: () => log().header.id,
    getSessionFile: () => log().path,
    getSessionName: () => log().name,
    getHeader: () => log().header,
    getLeafId: () => tree().leafId,
    getLeafEntry: () => entryOf(log(), tree().leafId),
    getEntry: (id) => tree().get(id),
    getEntries: () => [...tree().entries],
    getEntryCount: () => tree().entries.length,
    isPersisted: () => log().path !== undefined,
    buildContextEntries: () => {
      const { compaction, entries } = contextEntries(tree().branch());
      return compaction === undefined ? [...entries] : [compaction, ...entries];
    },
    getBranch: (fromId) => tree().branch(fromId ?? tree().leafId),
    getChildren: (parentId) => tree().entries.filter((entry) => entry.parentId === parentId),
    getLabel: (id) => labelsOf(log()).get(id),
    getTree: () => treeOf(log()),
    buildSessionContext: () => {
      const { messages, thinkingLevel, model } = buildSessionContext(tree().branch());
      return { messages, thinkingLevel: thinkingLevel ?? "off", model: model ?? null };
    },
  };
}

/** A writable view of a session, for its setup. */
export function sessionWriter(
  log: () => SessionLog,
  append: SessionLog["append"] = (entry) => log().append(entry),
): SessionSetup {
  return {
    ...sessionView(log),
    appendMessage: (message) => append({ type: "message", message: message as AgentMessage }).id,
    appendCustomEntry: (customType, data) => {
      const value = data === undefined ? {} : { data };
      return append({ type: "custom", customType, ...value }).id;
    },
    appendCustomMessageEntry: (customType, content, display, details) => {
      const more = details === undefined ? {} : { details };
      return append({ type: "custom_message", customType, content, display, ...more }).id;
    },
    appendSessionInfo: (name) => append({ type: "session_info", name }).id,
    appendLabelChange: (targetId, label) => {
      const text = label === undefined ? {} : { label };
      return append({ type: "label", targetId, ...text }).id;
    },
  };
}

function entryOf({ tree }: SessionLog, id: string | null): SessionEntry | undefined {
  return id === null ? undefined : tree.get(id);
}

function labelsOf({ tree }: SessionLog): Map<string, string> {
  const labels = new Map<string, string>();
  for (const entry of tree.entries as readonly KnownSessionEntry[]) {
    if (entry.type !== "label") continue;
    if (entry.label === undefined || entry.label === "") labels.delete(entry.targetId);
    else labels.set(entry.targetId, entry.label);
  }
  return labels;
}

function treeOf(log: SessionLog): SessionTreeNode[] {
  const labels = labelsOf(log);
  const roots: SessionTreeNode[] = [];
  const nodes = new Map<string, SessionTreeNode>();
  for (const entry of log.tree.entries) {
    const label = labels.get(entry.id);
    const node = { entry, children: [], ...(label === undefined ? {} : { label }) };
    const parent = entry.parentId === null ? undefined : nodes.get(entry.parentId);
    (parent?.children ?? roots).push(node);
    nodes.set(entry.id, node);
  }
  return roots;
}

import type { KnownSessionEntry, SessionEntry, SessionTreeNode } from "@tau-agent/rpc-protocol";
import type { SessionTree } from "./session-tree.ts";

/** The latest label of each labelled entry in a tree. */
export function labelsOf(
  entries: Iterable<SessionEntry>,
  tree: Pick<SessionTree, "indexOf">,
): Map<string, string> {
  const labels = new Map<string, string>();
  for (const entry of entries as Iterable<KnownSessionEntry>) {
    if (entry.type !== "label" || tree.indexOf(entry.targetId) === undefined) continue;
    if (entry.label) labels.set(entry.targetId, entry.label);
    else labels.delete(entry.targetId);
  }
  return labels;
}

/** Entries as a tree; entries whose parent is missing become roots. */
export function buildTree(entries: readonly SessionEntry[]): SessionTreeNode[] {
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

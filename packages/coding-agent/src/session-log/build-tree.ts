import type { KnownSessionEntry, SessionEntry, SessionTreeNode } from "@tau-agent/rpc-protocol";

/** The last label of each entry in `ids` that has one. */
export function labelsOf(
  entries: readonly SessionEntry[],
  ids: ReadonlySet<string>,
): Map<string, string> {
  const labels = new Map<string, string>();
  for (const entry of entries as readonly KnownSessionEntry[]) {
    if (entry.type !== "label" || !ids.has(entry.targetId)) continue;
    if (entry.label) labels.set(entry.targetId, entry.label);
    else labels.delete(entry.targetId);
  }
  return labels;
}

/** Entries as a tree; those whose parent is missing are roots. */
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

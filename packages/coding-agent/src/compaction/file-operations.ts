import type { AgentMessage } from "@tau-agent/rpc-protocol/messages";

/** The files that a conversation touched, as stored in `details` of compaction entries. */
export interface FileLists {
  readonly readFiles: readonly string[];
  readonly modifiedFiles: readonly string[];
}

/** How many paths of each list a summary may show. */
const MAX_SHOWN_PATHS = 200;

/** The files that tool calls read and changed, including those of an earlier compaction. */
export function collectFiles(messages: readonly AgentMessage[], earlier: unknown): FileLists {
  const read = new Set<string>(listIn(earlier, "readFiles"));
  const modified = new Set<string>(listIn(earlier, "modifiedFiles"));
  for (const message of messages) {
    if (message.role !== "assistant") continue;
    for (const block of message.content) {
      if (block.type !== "toolCall") continue;
      const { path } = block.arguments;
      if (typeof path !== "string") continue;
      if (block.name === "read") read.add(path);
      else if (block.name === "write" || block.name === "edit") modified.add(path);
    }
  }
  const readFiles = [...read].filter((path) => !modified.has(path)).sort();
  return { readFiles, modifiedFiles: [...modified].sort() };
}

/** The lists as written at the end of a summary; empty if no file was touched. */
export function renderFileLists({ readFiles, modifiedFiles }: FileLists): string {
  const sections = [
    renderList("read-files", readFiles),
    renderList("modified-files", modifiedFiles),
  ].filter((section) => section !== "");
  return sections.length === 0 ? "" : `\n\n${sections.join("\n\n")}`;
}

function renderList(tag: string, paths: readonly string[]): string {
  if (paths.length === 0) return "";
  const shown = paths.slice(0, MAX_SHOWN_PATHS);
  const rest = paths.length - shown.length;
  const lines = rest === 0 ? shown : [...shown, `(${rest} more)`];
  return `<${tag}>\n${lines.join("\n")}\n</${tag}>`;
}

function listIn(details: unknown, key: keyof FileLists): string[] {
  if (typeof details !== "object" || details === null) return [];
  const list: unknown = Reflect.get(details, key);
  return Array.isArray(list) ? list.filter((path) => typeof path === "string") : [];
}

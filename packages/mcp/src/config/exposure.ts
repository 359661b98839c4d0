import type { McpEntry, McpExposure } from "./server-entry.ts";

/**
 * The exposure of a tool, if the entry sets one: that of its exact name, else of the first matching
 * pattern, else of the whole server.
 */
export function exposureOf(
  { toolExposure, exposure }: Pick<McpEntry, "toolExposure" | "exposure">,
  tool: string,
): McpExposure | undefined {
  const exact = toolExposure.find(([name]) => name === tool);
  if (exact !== undefined) return exact[1];
  const fitting = toolExposure.find(([name]) => name.includes("*") && fitsPattern(name, tool));
  return fitting?.[1] ?? exposure;
}

/** Whether a name matches a pattern in which `*` is any text; linear, unlike a regular expression. */
export function fitsPattern(pattern: string, name: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop() ?? "";
  if (name.length < first.length + last.length) return false;
  if (!name.startsWith(first) || !name.endsWith(last)) return false;
  const end = name.length - last.length;
  let at = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found === -1 || found + part.length > end) return false;
    at = found + part.length;
  }
  return at <= end;
}

import { hashText } from "./short-id.ts";
import type { ToolRules } from "./tool-rules.ts";

/**
 * A tool's name as the vendor takes it. It depends on the name alone, so that it stays the same when
 * other tools come and go; what a changed name ends with keeps two names from becoming one.
 */
export function wireName(own: string, { name }: ToolRules): string {
  if (name.test(own)) return own;
  const readable = own.replace(/[^a-zA-Z0-9_-]+/g, "_").replace(/^[^a-zA-Z_]+/, "");
  return `${readable.slice(0, 50) || "tool"}_${hashText(own).slice(0, 7)}`;
}

import { hashText } from "./short-id.ts";
import type { ToolRules } from "./tool-rules.ts";

/**
 * A tool's name in a form that the vendor accepts. It depends only on the original name, so it does not change when
 * other tools are added or removed. A changed name ends with a hash, so that two names cannot become the same.
 */
export function wireName(own: string, { name }: ToolRules): string {
  if (name.test(own)) return own;
  const readable = own.replace(/[^a-zA-Z0-9_-]+/g, "_").replace(/^[^a-zA-Z_]+/, "");
  return `${readable.slice(0, 50) || "tool"}_${hashText(own).slice(0, 7)}`;
}

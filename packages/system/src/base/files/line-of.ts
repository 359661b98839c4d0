import type { Node } from "jsonc-parser";
import { readTextFileNow } from "./read-text.ts";

/**
 * The line of a member in a JSON file, from 1. If the file lacks the member, the line of its nearest existing parent.
 *
 * @param member - such as `retry.maxRetries` or `providers.x.models[0].id`; names may contain dots
 */
export async function lineOf(path: string, member: string): Promise<number | undefined> {
  const file = readTextFileNow(path);
  if (file.kind !== "text") return undefined;
  const { parseTree } = await import("jsonc-parser");
  const root = parseTree(file.text, [], { allowTrailingComma: true });
  if (root === undefined) return undefined;
  let node = root;
  let found = root;
  let rest = member;
  while (rest !== "") {
    const next = (node.children ?? [])
      .map((child, index) => stepInto(node.type, child, index, rest))
      .filter((step) => step !== undefined)
      .sort((a, b) => a.rest.length - b.rest.length)[0];
    if (next === undefined) break;
    ({ node, found, rest } = next);
  }
  return file.text.slice(0, found.offset).split("\n").length;
}

/** One step towards a member. `found` is the node to show: the name, not the value. */
function stepInto(parent: string, child: Node, index: number, rest: string) {
  const name = parent === "array" ? `[${index}]` : String(child.children?.[0]?.value);
  if (!rest.startsWith(name) || !/^(?:$|[.[])/.test(rest.slice(name.length))) return undefined;
  const node = parent === "array" ? child : child.children?.[1];
  if (node === undefined) return undefined;
  return { node, found: child, rest: rest.slice(name.length).replace(/^\./, "") };
}

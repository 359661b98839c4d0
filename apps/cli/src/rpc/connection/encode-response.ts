import { type DialectFrame, encodeLine, type SessionTreeNode } from "@tau-agent/rpc-protocol";

interface TreeData {
  readonly tree: readonly SessionTreeNode[];
}

/**
 * A response as a line. The tree of a session is as deep as the conversation is long. `JSON.stringify`
 * overflows the stack between 2000 and 4000 levels, so the tree is encoded without recursion.
 */
export function encodeResponse(frame: DialectFrame): string {
  if (!("data" in frame) || !isTreeData(frame.data)) return encodeLine(frame);
  const { data: _, ...head } = frame;
  const { tree, ...rest } = frame.data;
  const more = encodeLine(rest).slice(1, -1);
  const data = `{"tree":${encodeTree(tree)}${more === "}" ? "" : ","}${more}`;
  return `${open(head)},"data":${data}}\n`;
}

function isTreeData(data: unknown): data is TreeData {
  return typeof data === "object" && data !== null && "tree" in data && Array.isArray(data.tree);
}

/** The JSON of an object without the brace that closes it. */
function open(value: object): string {
  return encodeLine(value).slice(0, -"}\n".length);
}

/** The JSON of the nodes, in an order that needs no recursion. */
function encodeTree(roots: readonly SessionTreeNode[]): string {
  const pieces: string[] = ["["];
  const levels = [{ nodes: roots, next: 0, end: "]" }];
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const node = level.nodes[level.next];
    if (node === undefined) {
      pieces.push(level.end);
      levels.pop();
      continue;
    }
    const { entry, children, ...rest } = node;
    if (level.next > 0) pieces.push(",");
    level.next += 1;
    pieces.push(open({ entry }), ',"children":[');
    const more = encodeLine(rest).slice(1, -1);
    levels.push({ nodes: children, next: 0, end: more === "}" ? "]}" : `],${more}` });
  }
  return pieces.join("");
}

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync, Visitor } from "oxc-parser";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("../../../../", import.meta.url));

interface Node {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** A name that a file imports from a lazily loaded chunk, as `file name`. */
interface Taken {
  readonly chunk: string;
  readonly name: string;
}

/** In a chunk that is a script, a function takes the place of `import`. */
function isImport(node: Node): boolean {
  if (node.type === "ImportExpression") return true;
  return node.type === "CallExpression" && (node.callee as Node).name === "$chunk";
}

/** The names in `const { a, b } = await import("./chunk.js")` and `(await import("./chunk.js")).a`. */
function namesTaken(program: ReturnType<typeof parseSync>["program"]): Taken[] {
  const taken: Taken[] = [];
  const chunkOf = (node: Node | null): string | undefined => {
    if (node?.type === "ParenthesizedExpression") return chunkOf(node.expression as Node);
    if (node?.type === "AwaitExpression") return chunkOf(node.argument as Node);
    if (node === null || !isImport(node)) return undefined;
    const { value } = (node.source ?? (node.arguments as Node[])[0]) as Node;
    return typeof value === "string" && value.startsWith("./") ? value : undefined;
  };
  new Visitor({
    VariableDeclarator({ id, init }) {
      const chunk = chunkOf(init as Node | null);
      if (chunk === undefined || id.type !== "ObjectPattern") return;
      for (const property of id.properties) {
        if (property.type !== "Property" || property.key.type !== "Identifier") continue;
        taken.push({ chunk, name: property.key.name });
      }
    },
    MemberExpression({ object, property }) {
      const chunk = isImport({ ...object }) ? undefined : chunkOf({ ...object });
      if (chunk !== undefined && property.type === "Identifier") {
        taken.push({ chunk, name: property.name });
      }
    },
  }).visit(program);
  return taken;
}

it.each([
  ["packages/ai", 20],
  ["packages/coding-agent", 20],
  ["apps/cli", 60],
] as const)("finds each name in what %s loads on use", async (name, atLeast) => {
  const folder = join(root, name, "dist");
  const files = readdirSync(folder).filter((file) => file.endsWith(".js"));
  const exported = new Map<string, Set<string>>();
  const taken: (Taken & { readonly file: string })[] = [];
  for (const file of files) {
    const { program, module } = parseSync(file, readFileSync(join(folder, file), "utf8"));
    const names = module.staticExports.flatMap(({ entries }) =>
      entries.map((entry) => entry.exportName.name ?? "default"),
    );
    exported.set(`./${file}`, new Set(names));
    taken.push(...namesTaken(program).map((one) => ({ ...one, file })));
  }

  const missing = taken.filter((one) => !exported.get(one.chunk)?.has(one.name));

  expect(missing).toEqual([]);
  expect(taken.length).toBeGreaterThan(atLeast);
});

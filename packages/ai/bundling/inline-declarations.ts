import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const packages = fileURLToPath(new URL("../../", import.meta.url));
const imported = /(?<=(?:from |import\()")[^"]+(?=")/g;

/**
 * Gives a package the declarations of the private packages in its bundle: npm has none of these. Each
 * declaration that is reached is copied to `dist/<package>/`, and imports lead there.
 */
export function inlineDeclarations(dist: string, names: readonly string[]): void {
  const copied = new Set<string>();
  const todo = readdirSync(dist, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".d.ts") && !names.includes(path.split(/[/\\]/)[0] ?? ""))
    .map((path) => ({ from: join(dist, path), to: join(dist, path) }));
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    const { from, to } = next;
    const text = readFileSync(from, "utf8").replace(imported, (specifier) => {
      const found = declarationOf(specifier, from, names);
      if (found === undefined) return specifier;
      const target = join(dist, found.slice(packages.length).replace(/^([^/\\]+)[/\\]dist/, "$1"));
      if (!copied.has(target)) todo.push({ from: found, to: target });
      copied.add(target);
      return `./${relative(dirname(to), target).replaceAll("\\", "/")}`.replace(/\.d\.ts$/, ".js");
    });
    mkdirSync(dirname(to), { recursive: true });
    // A copy has no map: its source is not published.
    writeFileSync(to, from === to ? text : text.replace(/^\/\/# sourceMappingURL=.*$/m, ""));
  }
}

/** The file that an import of a private package, or of a file beside a copied one, leads to. */
function declarationOf(
  specifier: string,
  from: string,
  names: readonly string[],
): string | undefined {
  const [, name = "", subpath = ""] = /^@tau-agent\/([^/]+)(.*)$/.exec(specifier) ?? [];
  if (names.includes(name)) {
    const folder = join(packages, name);
    const { exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return join(folder, exports[`.${subpath}`].types);
  }
  const isCopied = names.includes(from.slice(packages.length).split(/[/\\]/)[0] ?? "");
  if (!specifier.startsWith(".") || !isCopied) return undefined;
  const path = join(dirname(from), specifier).replace(/(?:\.d)?\.[jt]s$/, ".d.ts");
  return existsSync(path) ? path : undefined;
}

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { namesIn } from "./names-in.ts";

const packages = fileURLToPath(new URL("../../", import.meta.url));
const imported = /(?<=(?:from |import\()")\.[^"]+(?=")|(?<=import\(")@tau-agent\/[^"]+(?=")/g;
const statement = /^(import|export)( type)? \{([^}]*)\} from "(@tau-agent\/[^"]+)";$/gm;

/** Where `tsc -b` writes the declarations of a package whose bundle includes private packages. */
const declarations = "dist/.declarations";

/**
 * Writes the published declarations of a package to its `dist` folder: those that its exports reach and, in
 * separate folders, those of the private packages in its bundle, which are not on npm.
 */
export function inlineDeclarations(name: string, parts: readonly string[]): void {
  const files = new Set(
    Object.values(exportsOf(name)).flatMap(({ types }) =>
      types === undefined ? [] : join(packages, name, types.replace("./dist", declarations)),
    ),
  );
  for (const from of files) {
    const to = placeOf(from, name);
    const lead = (found: string) => {
      files.add(found);
      const path = relative(dirname(to), placeOf(found, name)).replaceAll("\\", "/");
      return `${path.startsWith(".") ? "" : "./"}${path.replace(/\.d\.ts$/, ".js")}`;
    };
    const text = readFileSync(from, "utf8")
      .replace(imported, (specifier) => {
        const found = declarationOf(specifier, from, parts);
        return found === undefined ? specifier : lead(found);
      })
      .replace(statement, (all, kind, type = "", list: string, specifier: string) => {
        const door = declarationOf(specifier, from, parts);
        if (door === undefined) return all;
        const sources = namesOf(door);
        return namesIn(list)
          .map((each) => {
            const source = sources.get(each.replace(/^type | as .*/g, "")) ?? door;
            return `${kind}${type} { ${each} } from "${lead(source)}";`;
          })
          .join("\n");
      });
    mkdirSync(dirname(to), { recursive: true });
    const isOwn = from.startsWith(join(packages, name, declarations));
    // Private packages get no source map, because their sources are not published.
    writeFileSync(to, isOwn ? text : text.replace(/^\/\/# sourceMappingURL=.*$/m, ""));
    if (isOwn) {
      const map = readFileSync(`${from}.map`, "utf8");
      // The file is one folder closer to the sources than where tsc wrote it.
      writeFileSync(`${to}.map`, map.replace('"sources":["../', '"sources":["'));
    }
  }
}

function namesOf(door: string): Map<string, string> {
  const exported = /^export (?:type )?\{([^}]*)\} from "(\.[^"]+)";$/gm;
  const names = new Map<string, string>();
  for (const [, list = "", source = ""] of readFileSync(door, "utf8").matchAll(exported)) {
    const file = join(dirname(door), source).replace(/\.[jt]s$/, ".d.ts");
    for (const each of namesIn(list)) names.set(each.replace(/^type /, ""), file);
  }
  return names;
}

type Exports = Readonly<Record<string, { readonly types?: string }>>;

function exportsOf(name: string): Exports {
  return JSON.parse(readFileSync(join(packages, name, "package.json"), "utf8")).exports;
}

/** The place of a declaration in the `dist` folder of the published package. */
function placeOf(file: string, name: string): string {
  const [part = "", ...path] = relative(packages, file).split(sep);
  const below = path.filter((folder) => folder !== "dist" && folder !== ".declarations");
  return join(packages, name, "dist", ...(part === name ? [] : [part]), ...below);
}

/** The declaration to which an import of one of our packages leads; undefined for another package. */
function declarationOf(
  specifier: string,
  from: string,
  parts: readonly string[],
): string | undefined {
  if (specifier.startsWith(".")) {
    return join(dirname(from), specifier).replace(/(?:\.d)?\.[jt]s$/, ".d.ts");
  }
  const [, part = "", subpath = ""] = /^@tau-agent\/([^/]+)(.*)$/.exec(specifier) ?? [];
  if (!parts.includes(part)) return undefined;
  return join(packages, part, exportsOf(part)[`.${subpath}`]?.types ?? "");
}

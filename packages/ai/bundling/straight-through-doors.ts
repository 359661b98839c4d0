import { readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Options } from "tsup";
import { namesIn } from "./names-in.ts";

type Plugin = NonNullable<Options["esbuildPlugins"]>[number];

const statements = /^(import|export) \{([^}]*)\} from "(@tau-agent\/[^"]+|\.[^"]*\/index\.ts)";$/gm;

/** Which packages a bundle includes, and how each source file is transformed. */
export interface StraightOptions {
  /** Names of the packages, without `@tau-agent/`; all by default. */
  readonly packages?: readonly string[];
  readonly transform?: (source: string) => string;
}

/**
 * Imports and exports each name from the module that defines it. An import through a package's index counts as
 * importing all of it, and a lazily loaded module loads all its imports, so a start would load the schemas of all
 * commands.
 */
export function straightThroughDoors(options: StraightOptions = {}): Plugin {
  const { packages, transform = (source) => source } = options;
  return {
    name: "straight-through-doors",
    setup(build) {
      build.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
        const source = transform(readFileSync(path, "utf8"));
        return { contents: source.replace(statements, straighten(path, packages)), loader: "ts" };
      });
    },
  };
}

/** Replaces a statement of the file at `path` by one for each module that defines a name in it. */
function straighten(path: string, packages: readonly string[] | undefined) {
  return (statement: string, kind: string, list: string, door: string): string => {
    const isOwn = door.startsWith(".");
    const [, packageName = ""] = door.split("/");
    if (!isOwn && packages !== undefined && !packages.includes(packageName)) return statement;
    const sources = namesBehind(isOwn ? join(dirname(path), door) : fileOfDoor(door));
    const names = valuesIn(list);
    const unknown = names.find((name) => !sources.has(imported(name)));
    // A folder's index may also declare names itself.
    if (unknown !== undefined && isOwn) return statement;
    if (unknown !== undefined) throw new Error(`${path}: ${door} does not export ${unknown}`);
    return names
      .map((name) => `${kind} { ${name} } from ${JSON.stringify(sources.get(imported(name)))};`)
      .join(" ");
  };
}

/** The source file behind a subpath of a package. */
function fileOfDoor(door: string): string {
  const [, name, subpath = ""] = /^@tau-agent\/([^/]+)(.*)$/.exec(door) ?? [];
  const folder = fileURLToPath(new URL(`../../${name}/`, import.meta.url));
  const { exports } = JSON.parse(readFileSync(`${folder}package.json`, "utf8"));
  return realpathSync(join(folder, exports[`.${subpath}`]["@tau-agent/source"]));
}

/** The values that a file declares or re-exports, with the file each of them comes from. */
function namesBehind(file: string): Map<string, string> {
  const sources = new Map<string, string>();
  const text = readFileSync(file, "utf8");
  // A subpath may point to the declaring module itself.
  const declared = text.matchAll(/^export (?:async )?(?:function|const|class) (\w+)/gm);
  for (const [, name = ""] of declared) sources.set(name, file);
  for (const [, list = "", source = ""] of text.matchAll(
    /^export \{([^}]*)\} from "([^"]+)";$/gm,
  )) {
    const isPackage = source.startsWith("@tau-agent/");
    const from = isPackage ? fileOfDoor(source) : join(dirname(file), source);
    const next = isPackage || from.endsWith("/index.ts") ? namesBehind(from) : undefined;
    for (const name of valuesIn(list)) {
      const [inner = "", outer = inner] = name.split(" as ");
      sources.set(outer, next?.get(inner) ?? from);
    }
  }
  return sources;
}

/** The name in the other module, for `name` or `name as alias`. */
function imported(name: string): string {
  return name.split(" as ")[0] ?? name;
}

/** The values in the braces of an import or export; types are dropped, because a bundle has none. */
function valuesIn(list: string): string[] {
  return namesIn(list).filter((name) => !name.startsWith("type "));
}

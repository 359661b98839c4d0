import { readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Options } from "tsup";

type Plugin = NonNullable<Options["esbuildPlugins"]>[number];

const imports = /^import \{([^}]*)\} from "(@tau-agent\/[^"]+)";$/gm;

/** Which packages a bundle takes in, and what else becomes of each source file. */
export interface StraightOptions {
  /** Names of the packages, without `@tau-agent/`; all by default. */
  readonly packages?: readonly string[];
  readonly transform?: (source: string) => string;
}

/**
 * A lazily loaded module brings everything it imports. An import through a package's index counts
 * as importing all of it, and a start would load the schemas of all commands. So each name is
 * imported from the module that defines it.
 */
export function straightThroughDoors(options: StraightOptions = {}): Plugin {
  const { packages, transform = (source) => source } = options;
  return {
    name: "straight-through-doors",
    setup(build) {
      build.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
        const source = transform(readFileSync(path, "utf8"));
        const contents = source.replace(imports, (statement, list: string, door: string) => {
          if (packages !== undefined && !packages.includes(door.split("/")[1] ?? "")) {
            return statement;
          }
          const sources = openDoor(door);
          return namesIn(list)
            .map((name) => {
              const [imported = ""] = name.split(" as ");
              const defining = sources.get(imported);
              if (defining === undefined) {
                throw new Error(`${path}: ${door} does not export ${imported}`);
              }
              return `import { ${name} } from ${JSON.stringify(defining)};`;
            })
            .join(" ");
        });
        return { contents, loader: "ts" };
      });
    },
  };
}

/** The values a package's door exports and the file each of them comes from. */
function openDoor(door: string): Map<string, string> {
  const [, name, subpath = ""] = /^@tau-agent\/([^/]+)(.*)$/.exec(door) ?? [];
  const folder = fileURLToPath(new URL(`../../${name}/`, import.meta.url));
  const { exports } = JSON.parse(readFileSync(`${folder}package.json`, "utf8"));
  const file = realpathSync(join(folder, exports[`.${subpath}`]["@tau-agent/source"]));
  const sources = new Map<string, string>();
  const lines = readFileSync(file, "utf8").matchAll(/^export \{([^}]*)\} from "([^"]+)";$/gm);
  for (const [, list = "", source = ""] of lines) {
    const next = source.startsWith("@tau-agent/") ? openDoor(source) : undefined;
    for (const value of namesIn(list)) {
      sources.set(value, next?.get(value) ?? join(dirname(file), source));
    }
  }
  return sources;
}

/** The values in the braces of an import or export. */
function namesIn(list: string): string[] {
  const names = list
    .replace(/\/\*.*?\*\//gs, "")
    .split(",")
    .map((name) => name.trim());
  return names.filter((name) => name !== "" && !name.startsWith("type "));
}

import { readFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Options } from "tsup";

type Plugin = NonNullable<Options["esbuildPlugins"]>[number];

/**
 * Gives lazily loaded CommonJS modules the named exports they have in Node; in a bundle, a dynamic import of
 * them has only a default export. Uses paths relative to the package, because they appear in the bundle.
 */
export const namedExports: Plugin = {
  name: "named-exports",
  setup(build) {
    build.onResolve({ filter: /^[^./]/ }, async (args) => {
      const { importer, resolveDir, kind, path } = args;
      if (kind !== "dynamic-import" || args.pluginData === "resolving") return undefined;
      const pluginData = "resolving";
      const found = await build.resolve(path, { importer, resolveDir, kind, pluginData });
      if (found.external || found.namespace !== "file") return found;
      const contents = await exportsOfCommonJs(found.path);
      return contents === undefined
        ? found
        : { ...found, path: relative("", found.path), namespace: "named", pluginData: contents };
    });
    build.onLoad({ filter: /.*/, namespace: "named" }, ({ path, pluginData: contents }) => {
      return { contents, loader: "js", resolveDir: dirname(resolve(path)) };
    });
  },
};

/** A module with the exports of the CommonJS module at `path`; undefined if that is an ES module. */
export async function exportsOfCommonJs(path: string): Promise<string | undefined> {
  if (!/\.c?js$/.test(path) || /^(?:import|export)\b/m.test(readFileSync(path, "utf8"))) {
    return undefined;
  }
  const names = Object.keys(await import(pathToFileURL(path).href));
  const named = names.filter((name) => name !== "default" && /^[\w$]+$/.test(name));
  const from = JSON.stringify(path);
  return `import * as all from ${from};
    export const { ${named.join(", ")} } = all;
    export default all.default ?? all;`;
}

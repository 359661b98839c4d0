import { fileURLToPath } from "node:url";
import { defineConfig, type Options } from "tsup";

type Plugin = NonNullable<Options["esbuildPlugins"]>[number];

const entry = fileURLToPath(new URL("src/cli.ts", import.meta.url));

/**
 * Starting should read two files, not two dozen. esbuild makes one chunk for each set of entries
 * that share a module, and every lazily imported module is an entry: so each of ours is made to
 * import the program itself, and everything the start needs falls into one and the same set.
 */
const oneChunkForTheStart: Plugin = {
  name: "one-chunk-for-the-start",
  setup(build) {
    build.onResolve({ filter: /^(\.|@tau-agent\/)/ }, async (args) => {
      if (args.kind !== "dynamic-import" || args.pluginData === "resolving") return undefined;
      const { importer, resolveDir } = args;
      const found = await build.resolve(args.path, {
        importer,
        resolveDir,
        kind: "dynamic-import",
        pluginData: "resolving",
      });
      return { ...found, pluginData: "lazy" };
    });
    build.onLoad({ filter: /\.ts$/ }, async ({ path, pluginData }) => {
      if (pluginData !== "lazy") return undefined;
      const { readFile } = await import("node:fs/promises");
      const contents = `${await readFile(path, "utf8")}\nimport ${JSON.stringify(entry)};\n`;
      return { contents, loader: "ts" };
    });
  },
};

/**
 * An ESM import of `node:fs` reads every one of its exports, which loads all of its streams. Taken
 * from `process`, a builtin loads no more than what is used.
 */
const builtinsAsObjects: Plugin = {
  name: "builtins-as-objects",
  setup(build) {
    build.onResolve({ filter: /^node:/ }, ({ path }) => ({ path, namespace: "builtin" }));
    build.onLoad({ filter: /.*/, namespace: "builtin" }, ({ path }) => {
      const properties = Object.getOwnPropertyDescriptors(process.getBuiltinModule(path));
      const names = Object.entries(properties)
        .filter(([name, { get }]) => get === undefined && name !== "default")
        .map(([name]) => name);
      const lines = names.map((name) => `export const ${name} = builtin.${name};`);
      const head = `const builtin = process.getBuiltinModule(${JSON.stringify(path)});`;
      return { contents: [head, "export default builtin;", ...lines].join("\n"), loader: "js" };
    });
  },
};

// One bundle of everything ours; the vendors' SDKs, ripgrep and photon stay packages and load on
// first use.
export default defineConfig({
  entry: { cli: "src/cli.ts" },
  format: "esm",
  target: "node22",
  platform: "node",
  splitting: true,
  minify: true,
  clean: false,
  removeNodeProtocol: false,
  noExternal: [
    /^(?!node:|@anthropic-ai\/|openai|@google\/|@vscode\/ripgrep|@silvia-odwyer\/photon-node)/,
  ],
  external: [
    /^@anthropic-ai\//,
    /^openai/,
    /^@google\//,
    /^@vscode\/ripgrep/,
    /^@silvia-odwyer\/photon-node/,
  ],
  esbuildPlugins: [oneChunkForTheStart, builtinsAsObjects],
  esbuildOptions(options) {
    options.conditions = ["@tau-agent/source", "node", "import", "module", "default"];
    options.legalComments = "external";
  },
});

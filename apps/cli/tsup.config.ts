import { cpSync, readFileSync } from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig, type Options } from "tsup";
import { leanSdks } from "../../packages/ai/bundling/lean-sdks.ts";
import { licences } from "../../packages/ai/bundling/licences.ts";
import { exportsOfCommonJs, namedExports } from "../../packages/ai/bundling/named-exports.ts";
import { smallTurndown } from "../../packages/ai/bundling/small-turndown.ts";
import { straightThroughDoors } from "../../packages/ai/bundling/straight-through-doors.ts";
import { builtinsOnDemand } from "./bundling/builtins-on-demand.ts";
import { chunksAsScripts } from "./bundling/chunks-as-scripts.ts";

type Plugin = NonNullable<Options["esbuildPlugins"]>[number];

const isInPackage = /[/\\]node_modules[/\\]/;
const entry = fileURLToPath(new URL("src/cli.ts", import.meta.url));

const inRepository = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** The modules that a first prompt loads, whatever the wire format. */
const promptModules = [
  "packages/agent/src/loop/loop.ts",
  "packages/ai/src/fetch.ts",
  "packages/ai/src/request/cache-marks.ts",
  "packages/ai/src/request/output-schema.ts",
  "packages/ai/src/request/prefixes.ts",
  "packages/ai/src/request/request-memory.ts",
  "packages/ai/src/request/setup.ts",
  "packages/ai/src/sdk-error.ts",
  "packages/ai/src/stream-reply.ts",
  "packages/ai/src/transport/http-transport.ts",
  "packages/ai/src/transport/server-events.ts",
  "packages/coding-agent/src/resources/read-resources.ts",
  "packages/coding-agent/src/resources/rules/load-rules.ts",
].map(inRepository);

/** What a start or a change of session loads, before a prompt. */
const isBeforePrompts = /[/\\](add-local-servers|frame|read-session|read-session-file)\.ts$/;

const isListOfModels = /[/\\]models[/\\]generated[/\\][\w-]+\.ts$/;

/**
 * A start should read three files, and a first prompt few more, not three dozen each. esbuild makes one chunk for each
 * set of entries that share a module, and every lazily imported module is an entry. So each is replaced by an entry that
 * also imports the program and, unless it is loaded earlier, all that a prompt needs: the modules of the start then have
 * the same set, and those of a prompt, too.
 */
const fewChunks: Plugin = {
  name: "few-chunks",
  setup(build) {
    build.onResolve({ filter: /.*/ }, async (args) => {
      const { importer, namespace, resolveDir, kind, path } = args;
      // Otherwise esbuild leaves it out, because nothing is taken from it.
      if (namespace === "lazy" && promptModules.includes(path)) return { path, sideEffects: true };
      if (kind !== "dynamic-import" || args.pluginData === "resolving") return undefined;
      // esbuild wraps a module that a package loads with `require` in a function, and so everything which that
      // module imports, even lazily. An entry made here would hand this on to the whole program, whose start
      // would take a fifth longer.
      if (isInPackage.test(importer)) return undefined;
      const isOurs = /^(\.|@tau-agent\/)/.test(path);
      const pluginData = "resolving";
      const found = await build.resolve(path, { importer, resolveDir, kind, pluginData });
      if (found.external || found.namespace !== "file") return found;
      // A start reads one of these lists, and they import nothing.
      if (isListOfModels.test(found.path)) return found;
      // Relative, because bundles may show it.
      return { ...found, path: relative("", found.path), namespace: "lazy", pluginData: isOurs };
    });
    build.onLoad(
      { filter: /.*/, namespace: "lazy" },
      async ({ path: shown, pluginData: isOurs }) => {
        const path = resolve(shown);
        const from = JSON.stringify(path);
        const common = isOurs ? undefined : await exportsOfCommonJs(path);
        // Packages have default exports; of ours only generated ones do, and asking for one that is
        // not there would be warned about.
        const hasDefault = !isOurs || /^export default\b/m.test(readFileSync(path, "utf8"));
        const fallback = hasDefault
          ? `import * as all from ${from}; export default all.default;`
          : "";
        const all = common ?? `export * from ${from}; ${fallback}`;
        const together = isBeforePrompts.test(path) ? [entry] : [entry, ...promptModules];
        const imports = together.map((file) => `import ${JSON.stringify(file)};`);
        const contents = `${all} ${imports.join(" ")}`;
        return { contents, loader: "js", resolveDir: dirname(path) };
      },
    );
  },
};

/** The build of yaml for Node is CommonJS and requires `process`, which no ES module bundle can. */
const yamlAsModule: Plugin = {
  name: "yaml-as-module",
  setup(build) {
    const { resolve } = createRequire(new URL("../../packages/coding-agent/", import.meta.url));
    const path = join(dirname(resolve("yaml/package.json")), "browser/index.js");
    build.onResolve({ filter: /^yaml$/ }, ({ kind, pluginData }) =>
      kind === "dynamic-import" && pluginData !== "resolving" ? undefined : { path },
    );
  },
};

/** No ES module bundle can require what is built into Node, which packages in CommonJS do. */
const builtinsWithoutRequire: Plugin = {
  name: "builtins-without-require",
  setup(build) {
    build.onLoad({ filter: /[/\\]node_modules[/\\].+\.c?js$/ }, ({ path }) => {
      const source = readFileSync(path, "utf8");
      const contents = source.replace(
        /\brequire\((['"])([^'"./][^'"]*)\1\)/g,
        (call, _quote: string, name: string) =>
          isBuiltin(name) ? `globalThis.process.getBuiltinModule(${JSON.stringify(name)})` : call,
      );
      return contents === source ? undefined : { contents, loader: "js" };
    });
  },
};

// One bundle of everything ours and of the vendors' SDKs, so that the compile cache has all of it;
// ripgrep and photon stay packages and load on first use.
const program: Options = {
  entry: { cli: "src/cli.ts", "run-script": "src/process/run-script.ts" },
  format: "esm",
  target: "node22",
  platform: "node",
  splitting: true,
  minify: true,
  // What `tsc -b` wrote stays; JavaScript of earlier builds would be published.
  clean: ["!**/*.d.ts", "!**/*.d.ts.map"],
  define: { CONFORMANCE_DATA: JSON.stringify("./conformance/") },
  onSuccess: async () => {
    const data = new URL("../../packages/conformance/data/", import.meta.url);
    cpSync(data, new URL("dist/conformance/", import.meta.url), { recursive: true });
    const page = new URL("../console/dist/page/", import.meta.url);
    cpSync(page, new URL("dist/console/", import.meta.url), { recursive: true });
  },
  removeNodeProtocol: false,
  noExternal: [/^(?!node:|@vscode\/ripgrep|@silvia-odwyer\/photon-node|jiti|undici|unpdf)/],
  external: [/^@vscode\/ripgrep/, /^@silvia-odwyer\/photon-node/, /^jiti/, /^undici/, /^unpdf/],
  esbuildPlugins: [
    yamlAsModule,
    leanSdks,
    fewChunks,
    namedExports,
    straightThroughDoors({ transform: builtinsOnDemand }),
    builtinsWithoutRequire,
    chunksAsScripts({
      runner: "src/process/run-script.ts",
      start: "src/cli.ts",
      others: ["../../packages/agent/src/loop/loop.ts"],
    }),
    licences("dist/THIRD-PARTY-LICENSES.txt"),
  ],
  esbuildOptions(options) {
    options.conditions = ["@tau-agent/source", "node", "import", "module", "default"];
    options.legalComments = "external";
  },
};

/** What reads documents in a thread of its own, beside the program that starts it. */
const documentWorker: Options = {
  entry: { "document-worker": "../../packages/system/src/documents/document-worker.ts" },
  format: "esm",
  target: "node22",
  platform: "node",
  splitting: true,
  minify: true,
  removeNodeProtocol: false,
  noExternal: [/^(?!node:|unpdf)/],
  external: [/^unpdf/],
  esbuildPlugins: [namedExports, smallTurndown, licences("dist/DOCUMENT-WORKER-LICENSES.txt")],
  esbuildOptions(options) {
    options.legalComments = "external";
  },
};

/** Only `import()` works in both kinds of file, so a script's calls of `require` find what that has loaded. */
function moduleOrScript(script: string): string {
  const names = new Set([...script.matchAll(/\brequire\("([^"]+)"\)/g)].map(([, name]) => name));
  const loaded = `Promise.all(${JSON.stringify([...names])}.map(async(name)=>[name,await import(name)]))`;
  const head = `(async()=>{const module={},all=new Map(await ${loaded}),require=(name)=>all.get(name);`;
  return `${head}\n${script}\n})();\n`;
}

/**
 * The exec server as one file without dependencies, which runs as a module and as CommonJS, by any name:
 * it is copied to places that have nothing but Node. Built-in modules can be imported in both.
 */
const execServer: Options = {
  entry: { "exec-server": "src/exec-server/alone.ts" },
  format: "cjs",
  target: "node20",
  platform: "node",
  splitting: false,
  minify: true,
  removeNodeProtocol: false,
  noExternal: [/^(?!node:)/],
  outExtension: () => ({ js: ".js" }),
  esbuildPlugins: [straightThroughDoors()],
  plugins: [{ name: "module-or-script", renderChunk: (code) => ({ code: moduleOrScript(code) }) }],
  esbuildOptions(options) {
    options.conditions = ["@tau-agent/source", "node", "import", "module", "default"];
    options.legalComments = "none";
  },
};

export default defineConfig([program, documentWorker, execServer]);

import { defineConfig } from "tsup";
import { licences } from "../ai/bundling/licences.ts";
import { namedExports } from "../ai/bundling/named-exports.ts";

/** What stays a package: files of their own, modules that a program shares with the library, and types. */
const packages =
  /^(?:node:|@tau-agent\/|zod|@modelcontextprotocol\/client|@opentelemetry\/api|jiti|undici|@vscode\/ripgrep|@silvia-odwyer\/photon-node)/;

// Declarations come from `tsc -b`; tsup writes the JavaScript only. All other packages are bundled: what
// is used of them is a small part, and they would be most of an install.
export default defineConfig({
  entry: {
    index: "src/index.ts",
    "host-modules": "src/pi-modules/host-modules.ts",
    "session-store": "src/session-store/index.ts",
  },
  format: "esm",
  target: "node22",
  sourcemap: false,
  // What `tsc -b` wrote stays; JavaScript of earlier builds would be published.
  clean: ["!**/*.d.ts", "!**/*.d.ts.map"],
  splitting: true,
  platform: "node",
  noExternal: [new RegExp(`^(?!${packages.source.slice(1)})`)],
  external: [packages],
  // Packages in CommonJS ask for what is built into Node.
  banner: {
    js: 'import { createRequire as createRequireForBundle } from "node:module"; const require = createRequireForBundle(import.meta.url);',
  },
  esbuildPlugins: [namedExports, licences("dist/THIRD-PARTY-LICENSES.txt")],
});

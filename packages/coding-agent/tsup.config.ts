import { defineConfig } from "tsup";
import { inlineDeclarations } from "../ai/bundling/inline-declarations.ts";
import { licences } from "../ai/bundling/licences.ts";
import { namedExports } from "../ai/bundling/named-exports.ts";
import { smallTurndown } from "../ai/bundling/small-turndown.ts";
import { straightThroughDoors } from "../ai/bundling/straight-through-doors.ts";

/** Private packages: npm has none of them, so their code and declarations are in the bundle. */
const parts = ["export-html", "markup", "mcp", "models", "system", "trajectories", "worktrees"];

/** What stays a package: files of their own, modules that a program shares with the library, and types. */
const packages =
  /^(?:node:|@tau-agent\/(?:rpc-protocol|ai|agent|sessions)|zod|@modelcontextprotocol\/client|@opentelemetry\/api|jiti|undici|unpdf|@vscode\/ripgrep|@silvia-odwyer\/photon-node)/;

// Declarations come from `tsc -b`. All other packages are bundled: what
// is used of them is a small part, and they would be most of an install.
export default defineConfig({
  entry: {
    index: "src/index.ts",
    "host-modules": "src/pi-modules/host-modules.ts",
    "session-store": "src/session-store.ts",
    workspace: "src/workspace.ts",
    // Beside whatever starts it.
    "document-worker": "../system/src/documents/document-worker.ts",
  },
  format: "esm",
  target: "node22",
  sourcemap: false,
  // What `tsc -b` wrote stays; what earlier builds made of it would be published.
  clean: ["!.declarations/**"],
  splitting: true,
  platform: "node",
  noExternal: [new RegExp(`^(?!${packages.source.slice(1)})`)],
  external: [packages],
  // Packages in CommonJS ask for what is built into Node.
  banner: {
    js: 'import { createRequire as createRequireForBundle } from "node:module"; const require = createRequireForBundle(import.meta.url);',
  },
  esbuildPlugins: [
    straightThroughDoors({ packages: parts }),
    namedExports,
    smallTurndown,
    licences("dist/THIRD-PARTY-LICENSES.txt"),
  ],
  esbuildOptions(options) {
    options.conditions = ["@tau-agent/source", "node", "import", "module", "default"];
  },
  onSuccess: async () => inlineDeclarations("coding-agent", parts),
});

import { defineConfig } from "tsup";
import { inlineDeclarations } from "../ai/bundling/inline-declarations.ts";
import { straightThroughDoors } from "../ai/bundling/straight-through-doors.ts";

/** Private packages: npm has none of them, so what is used of their code is in the bundle. */
const parts = ["system"];

export default defineConfig({
  entry: {
    index: "src/index.ts",
    log: "src/log.ts",
    files: "src/files.ts",
    stored: "src/stored.ts",
  },
  format: "esm",
  target: "node22",
  platform: "node",
  splitting: true,
  // What `tsc -b` wrote stays; what earlier builds made of it would be published.
  clean: ["!.declarations/**"],
  noExternal: [/^@tau-agent\/system/],
  esbuildPlugins: [straightThroughDoors({ packages: parts })],
  esbuildOptions(options) {
    options.conditions = ["@tau-agent/source", "node", "import", "module", "default"];
  },
  onSuccess: async () => inlineDeclarations("sessions", parts),
});

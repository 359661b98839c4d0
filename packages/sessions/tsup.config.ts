import { defineConfig } from "tsup";
import { inlineDeclarations } from "../ai/bundling/inline-declarations.ts";
import { straightThroughDoors } from "../ai/bundling/straight-through-doors.ts";

/** Private packages that are not on npm, so the code used from them is bundled. */
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
  // Output of `tsc -b` stays; files of earlier builds would be published.
  clean: ["!.declarations/**"],
  noExternal: [/^@tau-agent\/system/],
  // Of `agent`, the parts use an error class, and the rest would bring the SDKs of all vendors.
  esbuildPlugins: [straightThroughDoors({ packages: [...parts, "agent"] })],
  esbuildOptions(options) {
    options.conditions = ["@tau-agent/source", "node", "import", "module", "default"];
  },
  onSuccess: async () => inlineDeclarations("sessions", parts),
});

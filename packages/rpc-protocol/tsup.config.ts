import { defineConfig } from "tsup";

// Declarations come from `tsc -b`; tsup writes the JavaScript only.
export default defineConfig({
  entry: [
    "src/index.ts",
    "src/commands/index.ts",
    "src/entry/messages.ts",
    "src/entry/events.ts",
    "src/entry/plain.ts",
  ],
  format: "esm",
  target: "node22",
  sourcemap: false,
  // What `tsc -b` wrote stays; JavaScript of earlier builds would be published.
  clean: ["!**/*.d.ts", "!**/*.d.ts.map"],
  splitting: true,
});

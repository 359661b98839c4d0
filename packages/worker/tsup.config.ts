import { defineConfig } from "tsup";

// Declarations come from `tsc -b`; tsup writes the JavaScript only.
export default defineConfig({
  entry: { index: "src/index.ts", main: "src/main.ts" },
  format: "esm",
  target: "node22",
  sourcemap: false,
  // Removes JavaScript of earlier builds, which would be published, and keeps what `tsc -b` wrote.
  clean: ["!**/*.d.ts", "!**/*.d.ts.map"],
  splitting: true,
});

import { defineConfig } from "tsup";

// Declarations come from `tsc -b`; tsup writes the JavaScript only.
export default defineConfig({
  entry: { index: "src/index.ts", "host-modules": "src/host-modules/host-modules.ts" },
  format: "esm",
  target: "node22",
  sourcemap: false,
  clean: false,
  splitting: true,
});

import { defineConfig } from "tsup";

// Declarations come from `tsc -b`; tsup writes the JavaScript only.
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
});

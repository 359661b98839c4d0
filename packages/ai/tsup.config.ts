import { defineConfig } from "tsup";
import { leanSdks } from "./bundling/lean-sdks.ts";
import { licences } from "./bundling/licences.ts";
import { namedExports } from "./bundling/named-exports.ts";

// Declarations come from `tsc -b`; tsup writes the JavaScript only. The vendors' SDKs are bundled: what a
// stream uses of them is a hundredth of their packages, which would be most of an install.
export default defineConfig({
  entry: ["src/index.ts", "src/testing/index.ts"],
  format: "esm",
  target: "node22",
  platform: "node",
  sourcemap: false,
  // What `tsc -b` wrote stays; JavaScript of earlier builds would be published.
  clean: ["!**/*.d.ts", "!**/*.d.ts.map"],
  splitting: true,
  noExternal: [/^(?!node:|@tau-agent\/)/],
  // Packages in CommonJS ask for what is built into Node.
  banner: {
    js: 'import { createRequire as createRequireForBundle } from "node:module"; const require = createRequireForBundle(import.meta.url);',
  },
  esbuildPlugins: [namedExports, leanSdks, licences("dist/THIRD-PARTY-LICENSES.txt")],
});

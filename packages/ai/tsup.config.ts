import { defineConfig } from "tsup";
import { leanSdks } from "./bundling/lean-sdks.ts";
import { licences } from "./bundling/licences.ts";
import { namedExports } from "./bundling/named-exports.ts";

// `tsc -b` writes the declarations; tsup writes only the JavaScript. The vendors' SDKs are bundled, because a
// stream uses about a hundredth of their packages, which would be most of an install.
export default defineConfig({
  entry: ["src/index.ts", "src/testing/index.ts"],
  format: "esm",
  target: "node22",
  platform: "node",
  sourcemap: false,
  // Keeps the output of `tsc -b`, but removes JavaScript of earlier builds, which would otherwise be published.
  clean: ["!**/*.d.ts", "!**/*.d.ts.map"],
  splitting: true,
  noExternal: [/^(?!node:|@tau-agent\/)/],
  // CommonJS packages call `require` for built-in modules.
  banner: {
    js: 'import { createRequire as createRequireForBundle } from "node:module"; const require = createRequireForBundle(import.meta.url);',
  },
  esbuildPlugins: [namedExports, leanSdks, licences("dist/THIRD-PARTY-LICENSES.txt")],
});

import { defineConfig } from "tsup";
import { plainBuild } from "../../tsup.shared.ts";
import { licences } from "../ai/bundling/licences.ts";

export default defineConfig([
  { ...plainBuild, entry: { index: "src/index.ts", streams: "src/streams/index.ts" } },
  // Pages load these directly: each is one file without imports.
  {
    ...plainBuild,
    entry: { browser: "src/browser/index.ts", markup: "src/markup/index.ts" },
    clean: false,
    platform: "browser",
    target: "es2022",
    minify: true,
    splitting: false,
    noExternal: [/.*/],
    esbuildPlugins: [licences("dist/THIRD-PARTY-LICENSES.txt")],
    esbuildOptions(options) {
      options.conditions = ["@tau-agent/source", "browser"];
    },
  },
]);

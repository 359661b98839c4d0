/** Builds the page: one script, one style, no asset from elsewhere. */
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const root = import.meta.dirname;
const page = join(root, "dist/page");
mkdirSync(page, { recursive: true });
await build({
  entryPoints: [join(root, "src/app.tsx")],
  outfile: join(page, "app.js"),
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  conditions: ["@tau-agent/source", "browser"],
  legalComments: "inline",
  logLevel: "warning",
});
await build({
  entryPoints: [join(root, "src/app.css")],
  outfile: join(page, "app.css"),
  bundle: true,
  minify: true,
  logLevel: "warning",
});
copyFileSync(join(root, "src/index.html"), join(page, "index.html"));

import { defineConfig } from "tsup";

// One bundle of everything ours, so that starting means reading one file; the vendors' SDKs and
// ripgrep stay packages and load on first use.
export default defineConfig({
  entry: { cli: "src/cli.ts" },
  format: "esm",
  target: "node22",
  platform: "node",
  splitting: true,
  minify: true,
  clean: false,
  noExternal: [
    /^(?!node:|@anthropic-ai\/|openai|@google\/|@vscode\/ripgrep|@silvia-odwyer\/photon-node)/,
  ],
  external: [
    /^@anthropic-ai\//,
    /^openai/,
    /^@google\//,
    /^@vscode\/ripgrep/,
    /^@silvia-odwyer\/photon-node/,
  ],
  esbuildOptions(options) {
    options.conditions = ["@tau-agent/source", "node", "import", "module", "default"];
    options.legalComments = "external";
  },
});

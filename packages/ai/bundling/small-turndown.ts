import { createRequire } from "node:module";
import type { Options } from "tsup";

type Plugin = NonNullable<Options["esbuildPlugins"]>[number];

/** Bundles the build of turndown without a parser, because it only gets parsed pages. */
export const smallTurndown: Plugin = {
  name: "small-turndown",
  setup(build) {
    const { resolve } = createRequire(new URL("../../system/package.json", import.meta.url));
    const path = resolve("turndown/lib/turndown.browser.es.js");
    build.onResolve({ filter: /^turndown$/ }, () => ({ path }));
  },
};

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Options } from "tsup";

type Plugin = NonNullable<Options["esbuildPlugins"]>[number];

const globals = ["FormData", "Headers", "ReadableStream", "Response"];
const globalsPath = fileURLToPath(new URL("sdk-globals.ts", import.meta.url));

/**
 * Bundles only the parts of the vendors' SDKs that a host uses: the client and its errors. The classes of the
 * other endpoints would be most of what a first prompt loads, and a reference to a class of Node's `fetch`
 * loads all of it (rows "spawn → end of a first prompt", "RSS after one prompt").
 */
export const leanSdks: Plugin = {
  name: "lean-sdks",
  setup(build) {
    const sdks = /\/node_modules\/(openai|@anthropic-ai\/sdk|@google\/genai)\/.*\.mjs$/;
    build.onLoad({ filter: sdks, namespace: "file" }, ({ path }) => {
      const source = readFileSync(path, "utf8");
      const contents = path.includes("/resources/") ? withoutBodies(source) : source;
      return { contents: withOwnGlobals(contents), loader: "js" };
    });
  },
};

/**
 * Replaces the exports of an endpoint module with empty classes: the client instantiates them, but nobody calls them.
 */
function withoutBodies(source: string): string {
  const names = [...source.matchAll(/^export (?:class|var|const) (\w+)/gm)].map(([, name]) => name);
  // Re-exports of other endpoint modules stay; those of helpers would load them.
  const doors = source.match(/^export (?:\*|\{[^}]*\}) from (?!.*\/lib\/).*$/gm) ?? [];
  return [...names.map((name) => `export class ${name} {}`), ...doors].join("\n");
}

/** Imports the `fetch` classes that the module references from a file that loads nothing. */
function withOwnGlobals(given: string): string {
  // Modules that create streams refer to Node's stream class by a name of their own.
  const makesStreams = given.includes("const ReadableStream = globalThis.ReadableStream");
  const source = makesStreams
    ? given
    : given.replaceAll("globalThis.ReadableStream", "ReadableStream");
  const wanted = globals.filter((name) => !makesStreams || name !== "ReadableStream");
  const named = wanted.filter((name) => new RegExp(`\\b${name}\\b`).test(source));
  if (named.length === 0) return source;
  return `import { ${named.join(", ")} } from ${JSON.stringify(globalsPath)};\n${source}`;
}

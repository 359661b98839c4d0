import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Options } from "tsup";

type Plugin = NonNullable<Options["esbuildPlugins"]>[number];

const globals = ["FormData", "Headers", "ReadableStream", "Response"];
const globalsPath = fileURLToPath(new URL("sdk-globals.ts", import.meta.url));

/**
 * Bundles what a host uses of the vendors' SDKs: the client and its errors. The classes of the other
 * endpoints would be most of what a first prompt loads, and naming a class of Node's `fetch` loads all of
 * that (rows "spawn → end of a first prompt", "RSS after one prompt").
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

/** The exports of a module of endpoints, as empty classes: the client makes them, and nobody calls them. */
function withoutBodies(source: string): string {
  const names = [...source.matchAll(/^export (?:class|var|const) (\w+)/gm)].map(([, name]) => name);
  // Doors to other modules of endpoints stay; those to helpers would load them.
  const doors = source.match(/^export (?:\*|\{[^}]*\}) from (?!.*\/lib\/).*$/gm) ?? [];
  return [...names.map((name) => `export class ${name} {}`), ...doors].join("\n");
}

/** Classes of Node's `fetch` that the module names come from a file that loads nothing. */
function withOwnGlobals(given: string): string {
  // A module that makes streams has a name of its own for Node's.
  const makesStreams = given.includes("const ReadableStream = globalThis.ReadableStream");
  const source = makesStreams
    ? given
    : given.replaceAll("globalThis.ReadableStream", "ReadableStream");
  const wanted = globals.filter((name) => !makesStreams || name !== "ReadableStream");
  const named = wanted.filter((name) => new RegExp(`\\b${name}\\b`).test(source));
  if (named.length === 0) return source;
  return `import { ${named.join(", ")} } from ${JSON.stringify(globalsPath)};\n${source}`;
}

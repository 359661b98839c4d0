import { isBuiltin } from "node:module";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { expect, it } from "vitest";

/** Bundles an entry point of this package for a page. */
async function bundle(door: string) {
  const entry = fileURLToPath(new URL(`../src/${door}/index.ts`, import.meta.url));
  const { outputFiles, metafile } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    // With `neutral`, imports of Node's built-in modules are left in place.
    platform: "neutral",
    mainFields: ["module", "main"],
    conditions: ["@tau-agent/source", "browser"],
    external: ["node:*"],
    logLevel: "error",
  });
  const code = Buffer.concat(outputFiles.map(({ contents }) => contents));
  const imported = Object.values(metafile.inputs).flatMap(({ imports }) =>
    imports.filter(({ external }) => external === true).map(({ path }) => path),
  );
  return { code: code.toString(), gzipped: gzipSync(code).length, imported };
}

it.each(["browser", "markup", "streams"])("needs nothing of Node in a page: %s", async (door) => {
  const { code, imported } = await bundle(door);
  expect(imported.filter((path) => isBuiltin(path))).toEqual([]);
  expect(code).not.toMatch(/\b(?:process\.(?:env|getuid|cwd)|setImmediate|__dirname)\b/);
});

it("is small", async () => {
  expect((await bundle("browser")).gzipped).toBeLessThan(60_000);
  expect((await bundle("streams")).gzipped).toBeLessThan(10_000);
});

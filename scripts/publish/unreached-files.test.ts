import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { unreachedFiles } from "./unreached-files.ts";

it("finds the files to which no entry point leads", () => {
  const home = mkdtempSync(join(tmpdir(), "tau-unreached-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  mkdirSync(join(home, "dist"));
  const files = Object.entries({
    "dist/index.js": 'import { a } from "./chunk-A.js"; export { a };',
    "dist/chunk-A.js": 'export const a = () => new Worker(new URL("thread.js", import.meta.url));',
    "dist/thread.js": 'await import("./chunk-B.js");',
    "dist/chunk-B.js": "",
    "dist/sdk.js": 'import "./sdk-parts.js";',
    "dist/sdk-parts.js": 'import "./sdk.js";',
    "dist/index.d.ts": "",
  });
  for (const [path, code] of files) writeFileSync(join(home, path), code);
  const paths = files.map(([path]) => path);
  expect(unreachedFiles(home, ["dist/index.js"], paths)).toEqual([
    "dist/sdk.js",
    "dist/sdk-parts.js",
  ]);
});

import { isBuiltin } from "node:module";
import { relative } from "node:path";
import { parseSync } from "oxc-parser";
import type { Options } from "tsup";

type Plugin = NonNullable<Options["esbuildPlugins"]>[number];

/** Takes the place of the keyword `import` in a script; minified names are shorter. */
const dynamicImport = "$chunk";

/**
 * Turns chunks into scripts that `run-script.ts` runs, because V8 keeps the compiled functions of a script, but of a
 * module only its outline, so that each process compiles what it calls again (rows `start`, `first-prompt`). Modules
 * that import such a chunk get its exports from a small module in its place.
 *
 * @param modules - source files; their chunks become scripts
 */
export function chunksAsScripts(modules: readonly string[]): Plugin {
  return {
    name: "chunks-as-scripts",
    setup(build) {
      build.onEnd(({ metafile, outputFiles = [] }) => {
        const missing = new Set(modules);
        for (const file of [...outputFiles]) {
          const output = relative("", file.path).replaceAll("\\", "/");
          const { inputs = {} } = metafile?.outputs[output] ?? {};
          const found = modules.filter((module) => module in inputs);
          if (found.length === 0) continue;
          for (const module of found) missing.delete(module);
          const path = file.path.replace(/\.js$/, ".script.js");
          const [, name = ""] = /([^/\\]+)$/.exec(path) ?? [];
          const { script, module } = scriptOf(file.text, name);
          outputFiles.push({ ...file, path, text: script, contents: Buffer.from(script) });
          file.contents = Buffer.from(module);
        }
        if (missing.size > 0) throw new Error(`No chunk has ${[...missing].join(", ")}`);
      });
    },
  };
}

/** A script with the code of a chunk, and the module that runs it. */
function scriptOf(
  code: string,
  name: string,
): { readonly script: string; readonly module: string } {
  const { staticImports, staticExports, dynamicImports, importMetas } = parseSync(
    name,
    code,
  ).module;
  if (importMetas.length > 0) throw new Error(`${name}: a script has no import.meta`);
  const head: string[] = [];
  const chunks: string[] = [];
  let body = code;
  const replace = (start: number, end: number, text = "") => {
    // Positions stay as they are, for what follows and for source maps.
    body = body.slice(0, start) + text.padEnd(end - start) + body.slice(end);
  };
  for (const { start, end, moduleRequest, entries } of staticImports) {
    replace(start, end);
    const { value: from } = moduleRequest;
    if (!from.startsWith("./") && !isBuiltin(from)) {
      throw new Error(`${name}: a script cannot import ${from}`);
    }
    let source = `process.getBuiltinModule("${from}")`;
    if (from.startsWith("./")) {
      source = `$${chunks.length}`;
      chunks.push(`import*as ${source} from"${from}";`);
    }
    for (const { importName, localName } of entries) {
      const member = importName.kind === "Name" ? `.${importName.name}` : "";
      head.push(`const ${localName.value}=${source}${member};`);
    }
  }
  for (const { start } of dynamicImports) {
    replace(start, start + dynamicImport.length, dynamicImport);
  }
  const names: string[] = [];
  const members: string[] = [];
  for (const { start, end, entries } of staticExports) {
    replace(start, end);
    for (const { localName, exportName } of entries) {
      if (localName.name === null || exportName.name === null) {
        throw new Error(`${name}: only lists of names can be exported`);
      }
      names.push(exportName.name);
      members.push(`${exportName.name}:${localName.name}`);
    }
  }
  const given = chunks.map((_, index) => `$${index}`);
  const parameters = [dynamicImport, ...given].join();
  return {
    script: `(function(${parameters}){"use strict";${head.join("")}\n${body}\nreturn{${members.join()}}})`,
    module: [
      `import{runScript}from"./run-script.js";${chunks.join("")}`,
      // Some of the names are words of the language.
      `const{${names.map((each) => `${each}:$${each}`).join()}}=`,
      `runScript(${[JSON.stringify(name), ...given].join()});`,
      `export{${names.map((each) => `$${each} as ${each}`).join()}};\n`,
    ].join(""),
  };
}

import { isBuiltin } from "node:module";
import { basename, relative } from "node:path";
import { parseSync } from "oxc-parser";
import type { Options } from "tsup";

type Plugin = NonNullable<Options["esbuildPlugins"]>[number];

/** Takes the place of the keyword `import` in a script; minified names are shorter. */
const dynamicImport = "$chunk";

export interface ScriptedChunks {
  /** The source of the module that runs scripts. The build puts it into the file that starts the program. */
  readonly runner: string;
  /** The source from which the program starts; its chunk becomes a script. */
  readonly start: string;
  /** Source files whose chunks become scripts, too. */
  readonly others: readonly string[];
}

/**
 * Turns chunks into scripts that `run-script.ts` runs, because V8 keeps the compiled functions of a script, but of a
 * module only its outline, so that each process compiles what it calls again (rows `start`, `first-prompt`). Modules
 * that import such a chunk get its exports from a small module in its place. A start does not read that module: to
 * export four hundred names takes V8 as long as twenty functions.
 */
export function chunksAsScripts({ runner, start, others }: ScriptedChunks): Plugin {
  return {
    name: "chunks-as-scripts",
    setup(build) {
      build.onEnd(({ metafile, outputFiles = [] }) => {
        const inPlace = (path: string) => relative("", path).replaceAll("\\", "/");
        const outputOf = (path: string) => metafile?.outputs[inPlace(path)];
        const fileOf = (entry: string) => {
          const found = outputFiles.find(({ path }) => outputOf(path)?.entryPoint === entry);
          if (found === undefined) throw new Error(`${entry} is not an entry`);
          return found;
        };
        const [runnerFile, startFile] = [fileOf(runner), fileOf(start)];
        const door = `./${basename(startFile.path)}`;
        const missing = new Set([start, ...others]);
        for (const file of [...outputFiles]) {
          const { inputs = {} } = outputOf(file.path) ?? {};
          const found = [...missing].filter((module) => module in inputs);
          if (found.length === 0) continue;
          const path = file.path.replace(/\.js$/, ".script.js");
          const made = scriptOf(file.text, basename(path));
          outputFiles.push({
            ...file,
            path,
            text: made.script,
            contents: Buffer.from(made.script),
          });
          file.contents = Buffer.from(moduleOf(made, door));
          if (found.includes(start))
            startFile.contents = Buffer.from(startOf(made, runnerFile.text));
          for (const module of found) missing.delete(module);
        }
        if (missing.size > 0) throw new Error(`No chunk has ${[...missing].join(", ")}`);
        outputFiles.splice(outputFiles.indexOf(runnerFile), 1);
      });
    },
  };
}

interface Script {
  readonly script: string;
  /** Statements that import the chunks of which the script takes something. */
  readonly imports: string;
  /** The arguments with which the script is run. */
  readonly given: string;
  /** The names of its exports, in the order of its values. */
  readonly exported: readonly string[];
}

/** The module in place of a chunk. */
function moduleOf({ imports, given, exported }: Script, door: string): string {
  // Some of the names are words of the language.
  const values = exported.map((name, index) => `$${name}=$all[${index}]`);
  const names = exported.map((name) => `$${name} as ${name}`);
  const all = `$all=runScript(${given})`;
  return `import{runScript}from"${door}";${imports}const ${[all, ...values].join()};export{${names.join()}};\n`;
}

/** The file that starts the program: the module that runs scripts, and the first of them. */
function startOf({ imports, given }: Script, runner: string): string {
  const [exported] = parseSync("runner.js", runner).module.staticExports;
  const run = exported?.entries.find(({ exportName }) => exportName.name === "runScript");
  return `${imports}${runner.trimEnd()}${run?.localName.name}(${given});\n`;
}

function scriptOf(code: string, name: string): Script {
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
  const values: string[] = [];
  for (const { start, end, entries } of staticExports) {
    replace(start, end);
    for (const { localName, exportName } of entries) {
      if (localName.name === null || exportName.name === null) {
        throw new Error(`${name}: only lists of names can be exported`);
      }
      names.push(exportName.name);
      values.push(localName.name);
    }
  }
  const passed = chunks.map((_, index) => `$${index}`);
  const parameters = [dynamicImport, ...passed].join();
  return {
    script: `(function(${parameters}){"use strict";${head.join("")}\n${body}\nreturn[${values.join()}]})`,
    imports: chunks.join(""),
    given: [JSON.stringify(name), ...passed].join(),
    exported: names,
  };
}

import { isBuiltin } from "node:module";
import { basename, relative } from "node:path";
import { parseSync, type StaticImport } from "oxc-parser";
import type { Options } from "tsup";

type Plugin = NonNullable<Options["esbuildPlugins"]>[number];
type BuildResult = Parameters<Parameters<Parameters<Plugin["setup"]>[0]["onEnd"]>[0]>[0];

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
 * module only its outline, so that each process compiles what it calls again (rows `start`, `first-prompt`). Each
 * script has a door, a module that runs it and exports the list of its values; other chunks take from this list what
 * they imported. To export each by its name, as modules do, would take V8 as long as twenty functions.
 */
export function chunksAsScripts({ runner, start, others }: ScriptedChunks): Plugin {
  return {
    name: "chunks-as-scripts",
    setup(build) {
      build.onEnd(({ metafile, outputFiles = [] }) => {
        const outputOf = ({ path }: OutputFile) =>
          metafile?.outputs[relative("", path).replaceAll("\\", "/")];
        const find = (what: string, isIt: (file: OutputFile) => boolean) => {
          const found = outputFiles.find(isIt);
          if (found === undefined) throw new Error(`There is no ${what}`);
          return found;
        };
        const entryOf = (entry: string) =>
          find(`entry ${entry}`, (file) => outputOf(file)?.entryPoint === entry);
        const chunkOf = (source: string) =>
          find(`chunk with ${source}`, (file) => source in (outputOf(file)?.inputs ?? {}));
        const [runnerFile, startFile] = [entryOf(runner), entryOf(start)];
        const scripted = [start, ...others].map((source) => {
          const chunk = chunkOf(source);
          return { chunk, file: source === start ? startFile : chunk };
        });
        const doors = new Map(
          scripted.map(({ chunk, file }, index) => {
            const door = { path: `./${basename(file.path)}`, local: `$values${index}` };
            return [`./${basename(chunk.path)}`, { ...door, names: exportsOf(chunk.text) }];
          }),
        );
        for (const file of outputFiles) {
          if (file.path.endsWith(".js"))
            file.contents = Buffer.from(throughDoors(file.text, doors));
        }
        for (const { chunk, file } of scripted) {
          const path = chunk.path.replace(/\.js$/, ".script.js");
          const { script, imports, given } = scriptOf(chunk.text, basename(path));
          outputFiles.push({ ...chunk, path, text: script, contents: Buffer.from(script) });
          // The file that starts the program imports itself, because its names are minified.
          const door = `import{runScript as $run}from"./${basename(startFile.path)}";${imports}export const values=$run(${given});\n`;
          file.contents = Buffer.from(file === startFile ? `${runnerFile.text}${door}` : door);
        }
        for (const gone of [runnerFile, chunkOf(start)]) {
          outputFiles.splice(outputFiles.indexOf(gone), 1);
        }
      });
    },
  };
}

type OutputFile = NonNullable<BuildResult["outputFiles"]>[number];

/** The module that runs a script. */
interface Door {
  /** As other chunks import it. */
  readonly path: string;
  /** What the list of values is called in them. */
  readonly local: string;
  /** The names that the chunk exports, in the order of the values. */
  readonly names: readonly string[];
}

/** By the path with which other chunks import the chunk. */
type Doors = ReadonlyMap<string, Door>;

function exportsOf(chunk: string): string[] {
  const { staticExports } = parseSync("chunk.js", chunk).module;
  return staticExports.flatMap(({ entries }) =>
    entries.map(({ exportName, localName }) => {
      if (exportName.name === null || localName.name === null) {
        throw new Error("A script can only export lists of names");
      }
      return exportName.name;
    }),
  );
}

/** A declaration of what a statement imports from a chunk that is a script. */
function declarationOf({ entries }: StaticImport, { local, names }: Door): string {
  const values = entries.map(({ importName, localName }) => {
    const index = names.indexOf(importName.name ?? "");
    if (index === -1) throw new Error(`${localName.value} is no name that the script exports`);
    return `${localName.value}=${local}[${index}]`;
  });
  return values.length === 0 ? "" : `const ${values.join()};`;
}

/** The code of a chunk that takes what it imports from lists of values. */
function throughDoors(code: string, doors: Doors): string {
  let body = code;
  for (const found of parseSync("chunk.js", code).module.staticImports.toReversed()) {
    const door = doors.get(found.moduleRequest.value);
    if (door === undefined) continue;
    const { path, local } = door;
    const taken = `import{values as ${local}}from"${path}";${declarationOf(found, door)}`;
    body = body.slice(0, found.start) + taken + body.slice(found.end);
  }
  for (const [chunk, { path }] of doors) {
    if (chunk !== path && body.includes(chunk)) throw new Error(`${chunk} is no longer there`);
  }
  return body;
}

interface Script {
  readonly script: string;
  /** Statements that import the chunks of which the script takes something. */
  readonly imports: string;
  /** The arguments with which the script is run. */
  readonly given: string;
}

function scriptOf(code: string, name: string): Script {
  const { staticImports, staticExports, dynamicImports, importMetas } = parseSync(
    name,
    code,
  ).module;
  if (importMetas.length > 0) throw new Error(`${name}: a script has no import.meta`);
  const head: string[] = [];
  const imports: string[] = [];
  const passed: string[] = [];
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
      source = `$${passed.length}`;
      passed.push(source);
      imports.push(`import*as ${source} from"${from}";`);
    }
    for (const { importName, localName } of entries) {
      const member = importName.kind === "Name" ? `.${importName.name}` : "";
      head.push(`const ${localName.value}=${source}${member};`);
    }
  }
  for (const { start } of dynamicImports) {
    replace(start, start + dynamicImport.length, dynamicImport);
  }
  for (const { start, end } of staticExports) replace(start, end);
  const values = staticExports.flatMap(({ entries }) =>
    entries.map(({ localName }) => localName.name),
  );
  const parameters = [dynamicImport, ...passed].join();
  return {
    script: `(function(${parameters}){"use strict";${head.join("")}\n${body}\nreturn[${values.join()}]})`,
    imports: imports.join(""),
    given: [JSON.stringify(name), ...passed].join(),
  };
}

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { HostModules } from "@tau-agent/coding-agent";
import type { ProcessEnvironment } from "../process/environment.ts";
import { PI_VERSION } from "../process/version.ts";

type Subpaths = Readonly<Record<string, string>>;

/** The packages of pi that programs started by extensions may import. */
const packages: Readonly<Record<string, Subpaths>> = {
  ...piPackages("@earendil-works"),
  ...piPackages("@mariozechner"),
  typebox: { ".": "typebox", "./compile": "typebox/compile", "./value": "typebox/value" },
  // The newest pi packages import it.
  "@earendil-works/chord": { ".": "", "./context": "" },
};

function piPackages(scope: string): Record<string, Subpaths> {
  const only = (name: string) => [`${scope}/${name}`, { ".": `${scope}/${name}` }] as const;
  const ai = `${scope}/pi-ai`;
  return {
    ...Object.fromEntries(["pi-coding-agent", "pi-tui"].map(only)),
    [`${scope}/pi-agent-core`]: {
      ".": `${scope}/pi-agent-core`,
      "./node": `${scope}/pi-agent-core`,
    },
    [ai]: { ".": ai, "./compat": ai, "./oauth": `${ai}/oauth`, "./providers/all": ai },
  };
}

/**
 * Writes packages under the names of pi's packages that export the modules of this host, for programs that
 * extensions start.
 *
 * @returns the file of each module name
 *
 * @param library - address of the module that exports `hostModulesOfProcess`
 */
export async function writePackages(
  { agentDirectory, program }: ProcessEnvironment,
  { modules, library }: { modules: HostModules; library: string },
): Promise<Record<string, string>> {
  const root = join(agentDirectory, "cache", "packages");
  const entry = pathToFileURL(program[1] ?? "").href;
  write(join(root, "library.js"), librarySource(library));
  const files: Record<string, string> = {};
  for (const [name, subpaths] of Object.entries(packages)) {
    const folder = join(root, "node_modules", name);
    write(join(folder, "package.json"), JSON.stringify(manifestOf(name, subpaths), undefined, 2));
    files[`${name}/package.json`] = join(folder, "package.json");
    const up = name.includes("/") ? "../../../.." : "../../..";
    for (const [subpath, module] of Object.entries(subpaths)) {
      const file = join(folder, fileOf(subpath));
      const names = Object.keys((await modules[module]?.()) ?? {});
      write(file, moduleSource(`${up}/library.js`, module, names));
      files[subpath === "." ? name : join(name, subpath)] = file;
    }
    if (name.endsWith("/pi-coding-agent")) {
      write(join(folder, "dist", "cli.js"), `import ${JSON.stringify(entry)};\n`);
    }
  }
  return files;
}

/** The program runs in another Node process, in which this code is a library, not a host. */
function librarySource(library: string): string {
  return `globalThis[Symbol.for("@tau-agent/library")] = true;
const { hostModulesOfProcess } = await import(${JSON.stringify(library)});
const modules = await hostModulesOfProcess();
export const load = async (name) => (await modules[name]?.()) ?? {};
`;
}

function moduleSource(library: string, module: string, names: readonly string[]): string {
  const own = names.filter((name) => /^[A-Za-z_$][\w$]*$/.test(name) && name !== "default");
  const lines = own.map((name) => `export const ${name} = module[${JSON.stringify(name)}];`);
  const load = `const module = await load(${JSON.stringify(module)});`;
  return [`import { load } from "${library}";`, load, ...lines, "export default module;", ""].join(
    "\n",
  );
}

function manifestOf(name: string, subpaths: Subpaths): object {
  const exports = Object.keys(subpaths).map((subpath) => [subpath, `./${fileOf(subpath)}`]);
  const bin = name.endsWith("/pi-coding-agent") ? { bin: { pi: "dist/cli.js" } } : {};
  return {
    name,
    version: PI_VERSION,
    type: "module",
    main: "dist/index.js",
    exports: { ...Object.fromEntries(exports), "./package.json": "./package.json" },
    ...bin,
  };
}

function fileOf(subpath: string): string {
  return subpath === "." ? "dist/index.js" : `dist/${subpath.slice(2)}.js`;
}

/** Other hosts may be reading the file, so a correct one is not rewritten. */
function write(path: string, text: string): void {
  try {
    if (readFileSync(path, "utf8") === text) return;
  } catch {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  }
  writeFileSync(path, text, { mode: 0o600 });
}

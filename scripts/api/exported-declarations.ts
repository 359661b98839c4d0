import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseSync } from "oxc-parser";

/** Declarations by exported name, without comments. */
export type Declarations = ReadonlyMap<string, string>;

/** Finds the declarations of another package; undefined if the report only names the package. */
export type ResolvePackage = (specifier: string) => string | undefined;

/**
 * Reads the exports of declaration files. Follows re-exports within the package and into the packages that `resolve`
 * knows; reads each file once.
 *
 * @returns a function of a file's path; it throws if a file is missing, because the packages have to be compiled first
 */
export function declarationReader(resolve: ResolvePackage): (path: string) => Declarations {
  const known = new Map<string, Declarations>();
  const read = (path: string): Declarations => {
    const found = known.get(path) ?? exportedDeclarations(path, resolve, read);
    known.set(path, found);
    return found;
  };
  return read;
}

function exportedDeclarations(
  path: string,
  resolve: ResolvePackage,
  read: (path: string) => Declarations,
): Declarations {
  const text = readFileSync(path, "utf8");
  const { program, module } = parseSync(path, text, { lang: "dts", sourceType: "module" });
  const local = localDeclarations(text, program.body);
  const imports = module.staticImports.flatMap(({ entries, moduleRequest }) =>
    entries.map((entry) => ({ ...entry, source: moduleRequest.value })),
  );
  const from = (source: string, name: string): string => {
    const file = fileOf(path, source, resolve);
    const found = file && read(file).get(name);
    return found ?? `export { ${name} } from "${source}";`;
  };
  const own = (name: string): string => {
    const declared = local.get(name);
    if (declared !== undefined) return declared;
    const imported = imports.find(({ localName }) => localName.value === name);
    if (imported === undefined)
      throw new Error(`${path} exports ${name}, which it does not declare`);
    return from(imported.source, imported.importName.name ?? name);
  };
  const everything = (source: string): Declarations => {
    const file = fileOf(path, source, resolve);
    return file ? read(file) : new Map([[`* of ${source}`, `export * from "${source}";`]]);
  };
  const found = new Map<string, string>();
  for (const { entries } of module.staticExports) {
    for (const { exportName, importName, localName, moduleRequest } of entries) {
      const source = moduleRequest?.value;
      const name = exportName.name ?? "default";
      if (source === undefined) found.set(name, own(localName.name ?? name));
      else if (exportName.kind !== "None") found.set(name, from(source, importName.name ?? name));
      else for (const each of everything(source)) found.set(...each);
    }
  }
  return found;
}

function fileOf(from: string, source: string, resolve: ResolvePackage): string | undefined {
  if (!source.startsWith(".")) return resolve(source);
  return join(dirname(from), source).replace(/(?:\.d)?\.[jt]s$/, ".d.ts");
}

type Statement = ReturnType<typeof parseSync>["program"]["body"][number];

/** The declarations of a file; an overloaded function has several. */
function localDeclarations(text: string, statements: readonly Statement[]): Declarations {
  const found = new Map<string, string>();
  for (const statement of statements) {
    const node =
      "declaration" in statement && statement.declaration ? statement.declaration : statement;
    for (const name of namesOf(node)) {
      const shown = text
        .slice(statement.start, statement.end)
        .replace(/[ \t]*\/\*[\s\S]*?\*\/\n?/g, "")
        .replace(/^(?:export )?(?:declare )?/, "export ");
      const before = found.get(name);
      found.set(name, before === undefined ? shown : `${before}\n${shown}`);
    }
  }
  return found;
}

function namesOf(node: object): string[] {
  if ("declarations" in node && Array.isArray(node.declarations)) {
    return node.declarations.map(({ id }) => id.name);
  }
  const id = "id" in node ? node.id : undefined;
  return typeof id === "object" && id !== null && "name" in id ? [String(id.name)] : [];
}

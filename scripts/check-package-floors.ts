import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * A message for each reference or import that leads to a package on the same or a higher floor, and for each
 * package without a floor.
 *
 * @param packages - every package that is compiled, relative to `baseFolder`
 */
export function checkPackageFloors(
  packages: readonly string[],
  floors: readonly (readonly string[])[],
  baseFolder: string,
): string[] {
  return packages.flatMap((name) => {
    const level = floors.findIndex((floor) => floor.includes(name));
    if (level === -1) return [`${name} is on no floor of scripts/layers.ts`];
    const below = new Set(floors.slice(0, level).flat());
    const targets = [...referencesOf(baseFolder, name), ...importsOf(baseFolder, name, floors)];
    return [...new Set(targets)]
      .filter((target) => !below.has(target))
      .map((target) => `${name} → ${target}: ${target} is on no lower floor`);
  });
}

/** The packages that the project of a folder refers to, relative to `baseFolder`. */
export function referencesOf(baseFolder: string, folder: string): string[] {
  const { references = [] } = JSON.parse(
    readFileSync(join(baseFolder, folder, "tsconfig.json"), "utf8"),
  );
  return references.map(({ path }: { path: string }) => join(folder, path).replaceAll("\\", "/"));
}

/** Imports are checked as well, because the compiler needs no reference to a package that is already built. */
function importsOf(
  baseFolder: string,
  folder: string,
  floors: readonly (readonly string[])[],
): string[] {
  const source = join(baseFolder, folder, "src");
  const files = existsSync(source)
    ? readdirSync(source, { encoding: "utf8", recursive: true })
    : [];
  const shipped = files.filter(
    (file) => file.endsWith(".ts") && !/\.test\.ts$|__fixtures__/.test(file),
  );
  const texts = shipped.map((file) => readFileSync(join(source, file), "utf8"));
  const imports = /(?:\bfrom|\bimport)\s*\(?\s*"@tau-agent\/([\w-]+)/g;
  const names = texts.flatMap((text) => [...text.matchAll(imports)].map(([, name = ""]) => name));
  const folderOf = (name: string) =>
    floors.flat().find((path) => path.endsWith(`/${name}`)) ?? `@tau-agent/${name}`;
  return [...new Set(names)].map(folderOf).filter((path) => path !== folder);
}

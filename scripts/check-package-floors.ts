import { readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The references between packages that lead to none on a lower floor, and packages without a floor, in words.
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
    return referencesOf(baseFolder, name)
      .filter((reference) => !below.has(reference))
      .map((reference) => `${name} → ${reference}: ${reference} is on no lower floor`);
  });
}

/** The packages that the project of a folder refers to, relative to `baseFolder`. */
export function referencesOf(baseFolder: string, folder: string): string[] {
  const { references = [] } = JSON.parse(
    readFileSync(join(baseFolder, folder, "tsconfig.json"), "utf8"),
  );
  return references.map(({ path }: { path: string }) => join(folder, path).replaceAll("\\", "/"));
}

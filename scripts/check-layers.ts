import { parseArgs } from "node:util";
import { cruise, type ICruiseResult, type IForbiddenRuleType } from "dependency-cruiser";
import { checkPackageFloors, referencesOf } from "./check-package-floors.ts";
import { doors, type Layers, layers, packageFloors } from "./layers.ts";

/** Files that are not published; tests may import from any floor. */
const notShipped = String.raw`\.test\.ts$|/__fixtures__/|\.d\.ts$`;

export interface LayerCheck {
  readonly layers: readonly Layers[];
  readonly doors: typeof doors;
  readonly baseFolder: string;
}

/**
 * A message for every import against the direction of the floors.
 *
 * @throws {Error} if no module was found below a folder of the table, because an empty check must not pass
 */
export async function checkLayers(check: LayerCheck): Promise<string[]> {
  const { baseFolder } = check;
  const roots = check.layers.map(({ root }) => root);
  const { output } = await cruise(roots, {
    baseDir: baseFolder,
    validate: true,
    ruleSet: { forbidden: rulesOf(check) },
    tsPreCompilationDeps: true,
    exclude: { path: notShipped },
    doNotFollow: { path: "node_modules" },
  });
  const { modules, summary } = output as ICruiseResult;
  for (const root of roots) {
    if (modules.some(({ source }) => source.startsWith(`${root}/`))) continue;
    throw new Error(`No module was read below ${root}. Fix the path in scripts/layers.ts.`);
  }
  return summary.violations.map(({ from, to, rule }) => `${from} → ${to}: ${rule.name}`);
}

function rulesOf({ layers: all, doors: closed }: LayerCheck): IForbiddenRuleType[] {
  return [
    ...all.flatMap(floorRules),
    ...closed.map(({ folder, door }): IForbiddenRuleType => {
      const name = `code outside ${folder} imports ${door} only`;
      const to = { path: `^${folder}/`, pathNot: `^${folder}/${escaped(door)}$` };
      return { name, severity: "error", from: { pathNot: `^${folder}/` }, to };
    }),
  ];
}

function floorRules({ root, floors, looseFiles, hasLooseBottom }: Layers): IForbiddenRuleType[] {
  const named = floors.flat();
  const loosePath = `${root}/[^/]+$`;
  const rules = floors.flatMap((floor, level) =>
    floor.map((name): IForbiddenRuleType => {
      const below = [name, ...floors.slice(0, level).flat()];
      return {
        name: `${root}/${name} may import ${below.slice(1).join(", ") || "nothing beside it"}`,
        severity: "error",
        from: { path: pathOf(root, [name]) },
        to: {
          path: `^${root}/`,
          pathNot: [pathOf(root, below), ...(hasLooseBottom ? [`^${loosePath}`] : [])],
        },
      };
    }),
  );
  const name = `${root} has folders that scripts/layers.ts does not know`;
  const from = { path: `^${root}/[^/]+/`, pathNot: pathOf(root, named) };
  const unknown: IForbiddenRuleType = { name, severity: "error", from, to: {} };
  const known = looseFiles && [...looseFiles, ...named.filter(isFile)];
  const loose: IForbiddenRuleType = hasLooseBottom
    ? {
        name: `files in ${root} import none of its folders`,
        severity: "error",
        from: { path: `^${loosePath}` },
        to: { path: `^${root}/[^/]+/` },
      }
    : {
        name: `${root} has only ${known?.join(", ")} beside its folders`,
        severity: "error",
        from: { path: `^${loosePath}`, pathNot: known ? pathOf(root, known) : `^${loosePath}` },
        to: {},
      };
  return [...rules, unknown, loose];
}

function pathOf(root: string, names: readonly string[]): string {
  const paths = names.map((name) => (isFile(name) ? `${escaped(name)}$` : `${name}/`));
  return `^${root}/(?:${paths.join("|")})`;
}

function isFile(name: string): boolean {
  return name.endsWith(".ts");
}

function escaped(text: string): string {
  return text.replaceAll(".", String.raw`\.`);
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { root: { type: "string", default: "." } } });
  const packages = referencesOf(values.root, ".");
  const violations = [
    ...(await checkLayers({ layers, doors, baseFolder: values.root })),
    ...checkPackageFloors(packages, packageFloors, values.root),
  ];
  for (const violation of violations) console.error(violation);
  if (violations.length > 0) process.exitCode = 1;
  else console.log(`Layers: ${layers.length} tables and ${packages.length} packages hold.`);
}

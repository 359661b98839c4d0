import { parseArgs } from "node:util";
import { cruise, type ICruiseResult, type IForbiddenRuleType } from "dependency-cruiser";
import { doors, type Layers, layers } from "./layers.ts";

/** Source files that ship; tests may import from any floor. */
const notShipped = String.raw`\.test\.ts$|/__fixtures__/|\.d\.ts$`;

/** What {@link checkLayers} holds a tree against. */
export interface LayerCheck {
  readonly layers: readonly Layers[];
  readonly doors: typeof doors;
  /** The folder the paths start from. */
  readonly baseFolder: string;
}

/**
 * Every import against the direction of the floors, in words.
 *
 * @throws {Error} no module was read below a folder of the table: a check of nothing must not pass
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
  const known = floors.flat();
  const loosePath = `${root}/[^/]+$`;
  const rules = floors.flatMap((floor, level) =>
    floor.map((folder): IForbiddenRuleType => {
      const below = [folder, ...floors.slice(0, level).flat()];
      return {
        name: `${root}/${folder} may import ${below.slice(1).join(", ") || "no other folder"}`,
        severity: "error",
        from: { path: `^${root}/${folder}/` },
        to: {
          path: `^${root}/`,
          pathNot: [
            `^${root}/(?:${below.join("|")})/`,
            ...(hasLooseBottom ? [`^${loosePath}`] : []),
          ],
        },
      };
    }),
  );
  const name = `${root} has folders that scripts/layers.ts does not know`;
  const from = { path: `^${root}/[^/]+/`, pathNot: `^${root}/(?:${known.join("|")})/` };
  const unknown: IForbiddenRuleType = { name, severity: "error", from, to: {} };
  const loose: IForbiddenRuleType = hasLooseBottom
    ? {
        name: `files in ${root} import none of its folders`,
        severity: "error",
        from: { path: `^${loosePath}` },
        to: { path: `^${root}/[^/]+/` },
      }
    : {
        name: `${root} has only ${looseFiles?.join(", ")} beside its folders`,
        severity: "error",
        from: {
          path: `^${loosePath}`,
          pathNot: `^${root}/(?:${looseFiles?.map(escaped).join("|") ?? ".*"})$`,
        },
        to: {},
      };
  return [...rules, unknown, loose];
}

function escaped(text: string): string {
  return text.replaceAll(".", String.raw`\.`);
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { root: { type: "string", default: "." } } });
  const violations = await checkLayers({ layers, doors, baseFolder: values.root });
  for (const violation of violations) console.error(violation);
  if (violations.length > 0) process.exitCode = 1;
  else console.log(`Layers: ${layers.length} tables hold.`);
}

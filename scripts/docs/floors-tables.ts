import type { Layers } from "../layers.ts";
import { code, table } from "./markdown.ts";

/** A table of floors in a page: the marker names the root, and the table below it is generated. */
const marked = /<!-- floors: (\S+) -->\n(?:\|.*\n)*/g;

/**
 * A page with its tables of floors generated from `scripts/layers.ts`.
 *
 * @throws {Error} if the page has no table, a root has no contents, or a folder has no text
 */
export function withFloorsTables(page: string, layers: readonly Layers[]): string {
  if (page.search(marked) === -1) throw new Error("The page has no marker <!-- floors: … -->");
  return page.replaceAll(marked, (_, root: string) => {
    const found = layers.find((entry) => entry.root === root);
    if (found === undefined) throw new Error(`scripts/layers.ts has no row for ${root}`);
    return `<!-- floors: ${root} -->\n${floorsTable(found)}`;
  });
}

function floorsTable({ root, floors, contents = {} }: Layers): string {
  const folders = floors.flat();
  const gone = Object.keys(contents).filter((name) => !folders.includes(name));
  const silent = folders.filter((name) => contents[name] === undefined);
  if (silent.length > 0) {
    throw new Error(`Say in scripts/layers.ts what is in ${root}/${silent.join(", ")}`);
  }
  if (gone.length > 0) {
    throw new Error(`scripts/layers.ts has contents but no floor for ${root}/${gone.join(", ")}`);
  }
  const rows = floors.map((floor, level) =>
    floor.map((name) => [String(level + 1), code(`${name}/`), contents[name] ?? ""]),
  );
  return table(["Floor", "Folder", "What is in it"], rows.toReversed().flat());
}

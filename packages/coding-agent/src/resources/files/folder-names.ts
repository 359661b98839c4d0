import type { WorkspaceEntry } from "@tau-agent/rpc-protocol/workspace";
import type { Diagnostic } from "@tau-agent/system";
import { type Disk, entriesOf } from "./disk.ts";
import { leftOut } from "./text-bounds.ts";

/** More templates, rules or agents than people write. */
const MAX_FILES = 1000;

/** The matching names in a folder, sorted and limited; none if the folder cannot be read. */
export async function fittingEntries(
  disk: Disk,
  folder: string,
  fits: RegExp,
  diagnostics: Diagnostic[],
): Promise<WorkspaceEntry[]> {
  const fitting = (await entriesOf(disk, folder)).filter(({ name }) => fits.test(name));
  if (fitting.length > MAX_FILES) {
    diagnostics.push(leftOut(folder, `all but ${MAX_FILES} of its files`));
  }
  return fitting.slice(0, MAX_FILES);
}

import type { WorkspaceEntry } from "@tau-agent/rpc-protocol/workspace";
import type { Diagnostic } from "@tau-agent/system";
import { type Disk, entriesOf } from "./disk.ts";
import { leftOut } from "./text-bounds.ts";

/** More templates, rules or agents than anybody writes. */
const MAX_FILES = 1000;

/** Entries of a folder whose names fit, in order and not too many; none of one that cannot be read. */
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

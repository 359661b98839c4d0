import { readdirSync } from "node:fs";
import { readdir } from "node:fs/promises";
import type { Diagnostic } from "@tau-agent/system";
import { attempt } from "@tau-agent/system";
import { leftOut } from "./text-bounds.ts";

/** More templates, rules or agents than anybody writes. */
const MAX_FILES = 1000;

/** Names in a folder that fit, in order and not too many; none for a folder that cannot be read. */
export async function namesIn(
  folder: string,
  fits: RegExp,
  diagnostics: Diagnostic[],
): Promise<string[]> {
  return limited(folder, fits, diagnostics, await readdir(folder).catch(() => []));
}

/** {@link namesIn} without leaving the thread. */
export function namesInNow(folder: string, fits: RegExp, diagnostics: Diagnostic[]): string[] {
  return attempt(() => limited(folder, fits, diagnostics, readdirSync(folder))) ?? [];
}

function limited(
  folder: string,
  fits: RegExp,
  diagnostics: Diagnostic[],
  names: readonly string[],
): string[] {
  const fitting = names.filter((name) => fits.test(name)).sort();
  if (fitting.length > MAX_FILES) {
    diagnostics.push(leftOut(folder, `all but ${MAX_FILES} of its files`));
  }
  return fitting.slice(0, MAX_FILES);
}

import { join } from "node:path";
import { randomHex } from "../base/random.ts";
import type { ToolEnvironment } from "./environment.ts";
import type { OutputFile } from "./output-file.ts";
import { SpillFile } from "./spill-file.ts";

/** Where long outputs are kept. */
export type OutputPlace = Pick<ToolEnvironment, "temporaryDirectory" | "outputFile">;

/** Opens a file for a long output on the machine where the tools act, under an unguessable name. */
export function openOutput(
  { temporaryDirectory, outputFile }: OutputPlace,
  { prefix, extension }: { prefix: string; extension: string } = {
    prefix: "pi-bash",
    extension: ".log",
  },
): OutputFile {
  const name = `${prefix}-${randomHex(8)}${extension}`;
  return outputFile?.(name) ?? new SpillFile(join(temporaryDirectory, name));
}

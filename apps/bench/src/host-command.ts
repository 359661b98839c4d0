import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The built host of this repository, or the given one. */
export function hostCommand(given: string | undefined): readonly [string, ...string[]] {
  const [program, ...args] = given?.split(" ") ?? [];
  if (program) return [program, ...args];
  const manifestUrl = import.meta.resolve("@tau-agent/cli/package.json");
  const manifest = JSON.parse(readFileSync(fileURLToPath(manifestUrl), "utf8")) as {
    bin: { tau: string };
  };
  return [process.execPath, fileURLToPath(new URL(manifest.bin.tau, manifestUrl))];
}

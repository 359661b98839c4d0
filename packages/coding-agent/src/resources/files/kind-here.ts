import { statSync } from "node:fs";
import { attempt } from "@tau-agent/system";

/** The kind of file at a path of this machine, following links. */
export function kindHere(path: string): "file" | "directory" | "missing" {
  const found = attempt(() => statSync(path, { throwIfNoEntry: false }));
  if (found === undefined) return "missing";
  return found.isDirectory() ? "directory" : "file";
}

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DiscoveredExtensions } from "./discover.ts";
import { sourcesOf } from "./host-imports.ts";

/**
 * Files and folders that determine which extension code runs outside of any sandbox: those that settings and packages
 * name, the extensions and their own files, and folders with packages that they import.
 *
 * @param isHosts - whether an import is one of the host's own modules
 */
export function hostCodeOf(
  { places, files }: DiscoveredExtensions,
  isHosts: (name: string) => boolean = () => true,
): readonly string[] {
  const code = new Set(places);
  for (const { path, realPath } of files) {
    code.add(path);
    for (const [file, text] of sourcesOf(realPath)) {
      code.add(file);
      for (const name of importsIn(text)) {
        if (!isHosts(name)) for (const folder of foldersFor(file, name)) code.add(folder);
      }
    }
  }
  return [...code];
}

function importsIn(text: string): Set<string> {
  const imports = /\b(?:from|import|require)\s*\(?\s*["'`](@?[a-z][^"'`\s$:]*)["'`]/gi;
  return new Set([...text.matchAll(imports)].map(([, name = ""]) => name));
}

/** The folder of a package, and the folders where a package of the same name would take precedence. */
function foldersFor(file: string, name: string): readonly string[] {
  const [first = "", second = ""] = name.split("/");
  const root = first.startsWith("@") ? join(first, second) : first;
  const folders: string[] = [];
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const packages = join(folder, "node_modules");
    folders.push(packages);
    if (existsSync(join(packages, root))) return folders;
    if (dirname(folder) === folder) return [];
  }
}

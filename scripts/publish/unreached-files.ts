import { readFileSync } from "node:fs";
import { basename, join } from "node:path";

/**
 * The JavaScript files of an unpacked package to which none of its entry points leads. A bundler also writes what
 * unused code would load, for example the SDKs of all vendors for one class of errors.
 */
export function unreachedFiles(
  home: string,
  entries: readonly string[],
  files: readonly string[],
): string[] {
  const unreached = new Set(files.filter((path) => /^dist\/.*\.m?js$/.test(path)));
  const waiting = entries.filter((path) => /\.m?js$/.test(path));
  for (const path of waiting) unreached.delete(path);
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const code = readFileSync(join(home, path), "utf8");
    for (const other of unreached) {
      // Threads are started by the names of their files, so imports alone are not enough.
      if (!code.includes(basename(other))) continue;
      unreached.delete(other);
      waiting.push(other);
    }
  }
  return [...unreached];
}

import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { onTestFinished } from "vitest";

/** The paths below a folder that this process accesses in the file system, until the test ends. */
export function watchDisk(below: string): readonly string[] {
  const seen: string[] = [];
  const restore: (() => void)[] = [];
  const watch = (module: Record<string, unknown>): void => {
    for (const [name, original] of Object.entries(module)) {
      if (typeof original !== "function" || /^[A-Z]/.test(name)) continue;
      const watched = (...args: unknown[]) => {
        const isBelow = typeof args[0] === "string" && args[0].startsWith(below);
        if (isBelow) seen.push(`${name} ${String(args[0])}`);
        return Reflect.apply(original, module, args);
      };
      module[name] = Object.assign(watched, original);
      restore.push(() => {
        module[name] = original;
      });
    }
  };
  watch(fs as unknown as Record<string, unknown>);
  watch(fs.promises as unknown as Record<string, unknown>);
  const native = fs.realpathSync.native;
  fs.realpathSync.native = ((...args: Parameters<typeof native>) => {
    if (String(args[0]).startsWith(below)) seen.push(`realpath ${String(args[0])}`);
    return native(...args);
  }) as typeof native;
  syncBuiltinESMExports();
  onTestFinished(() => {
    for (const undo of restore) undo();
    syncBuiltinESMExports();
  });
  return seen;
}

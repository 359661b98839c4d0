import { chmodSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "../../create/__fixtures__/test-session.ts";
import { loadFactories } from "./load.ts";

const modeOf = (path: string): number => lstatSync(path).mode & 0o777;

it.skipIf(process.platform === "win32")(
  "keeps compiled extensions private to the user",
  async () => {
    const folder = temporaryFolder();
    const path = join(folder, "x.ts");
    writeFileSync(path, "export default (pi: object): void => {};\n");
    const cache = join(folder, "cache", "extensions");
    mkdirSync(cache, { recursive: true });
    // A permissive umask makes the folder writable for everybody, so anybody could have put code there.
    chmodSync(cache, 0o777);
    writeFileSync(join(cache, "planted.mjs"), "evil");
    const umask = process.umask(0);
    onTestFinished(() => void process.umask(umask));
    const files = [{ path, realPath: path, scope: "user" as const }];
    const options = { hostModules: {}, cacheDirectory: join(folder, "cache") };
    const { diagnostics, factories } = await loadFactories(files, options);
    expect(diagnostics).toEqual([]);
    expect(factories).toHaveLength(1);
    expect(modeOf(cache)).toBe(0o700);
    const names = readdirSync(cache);
    expect(names).not.toContain("planted.mjs");
    expect(names.map((name) => modeOf(join(cache, name)))).toEqual([0o600]);
  },
);

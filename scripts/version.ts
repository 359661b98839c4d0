/** Turns the changesets into a new version of all packages, in their changelogs and wherever the code states it. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readManifest, root } from "./publish/published-packages.ts";

const places: readonly (readonly [file: string, form: RegExp])[] = [
  ["apps/cli/src/process/version.ts", /(?<=^export const VERSION = ").*(?=";$)/m],
  ["packages/system/src/base/version.ts", /(?<=^export const VERSION = ").*(?=";$)/m],
  ["clients/python/tau_rpc/client.py", /(?<=^__version__ = ").*(?="$)/m],
];

execFileSync("changeset", ["version"], { cwd: root, stdio: "inherit" });
const { version } = readManifest("apps/cli");
for (const [file, form] of places) {
  const path = join(root, file);
  const text = readFileSync(path, "utf8");
  if (!form.test(text)) throw new Error(`${file} does not say the version any more.`);
  writeFileSync(path, text.replace(form, version));
}

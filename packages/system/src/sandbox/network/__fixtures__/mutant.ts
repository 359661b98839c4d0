import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { ProxyModules } from "./secret-proxy.ts";

/** A rule of the proxy: where it is in the source, and the source without it. */
export interface Rule {
  readonly file: string;
  readonly from: string | RegExp;
  readonly to: string;
}

const network = fileURLToPath(new URL("..", import.meta.url));
const made = new Map<Rule, Promise<ProxyModules>>();
const folders: string[] = [];

/** Loads the proxy's code without a rule; {@link removeMutants} removes the files. */
export function mutantWithout(rule: Rule): Promise<ProxyModules> {
  const known = made.get(rule) ?? make(rule);
  made.set(rule, known);
  return known;
}

export function removeMutants(): void {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}

async function make({ file, from, to }: Rule): Promise<ProxyModules> {
  // Beside the original, so that imports resolve; a hidden folder, which source checks ignore.
  const folder = mkdtempSync(join(network, "..", ".network-mutant-"));
  folders.push(folder);
  for (const name of readdirSync(network)) {
    if (name.endsWith(".ts") && !name.endsWith(".test.ts")) {
      cpSync(join(network, name), join(folder, name));
    }
  }
  const path = join(folder, file);
  const source = readFileSync(path, "utf8");
  const changed = source.replace(from, to);
  if (changed === source) throw new Error(`${file} has no ${String(from)}`);
  writeFileSync(path, changed);
  const load = (name: string) => import(/* @vite-ignore */ pathToFileURL(join(folder, name)).href);
  const [proxy, gate, secrets] = await Promise.all(
    ["proxy.ts", "secret-gate.ts", "session-secrets.ts"].map(load),
  );
  return { ...proxy, ...gate, ...secrets };
}

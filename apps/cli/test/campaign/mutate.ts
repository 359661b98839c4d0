import fs from "node:fs";
import { registerHooks, syncBuiltinESMExports } from "node:module";
import { env } from "node:process";
import { type Mutant, mutants, stops } from "./mutants.ts";

// Preloaded into a built host: disables one mechanism, or stops the host before one of its changes.
const [kind = "", at] = (env.TAU_CAMPAIGN_STOP_AT ?? "").split(" ");
const changes: readonly (Mutant | undefined)[] = [
  mutants[env.TAU_CAMPAIGN_MUTANT ?? ""],
  stops[kind]?.(Number(at)),
];

function changed(source: string): string {
  return changes.reduce(
    (text, change) => (change === undefined ? text : text.replace(change.find, change.put)),
    source,
  );
}

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (!url.includes("/apps/cli/dist/")) return loaded;
    return { ...loaded, source: changed(String(loaded.source)) };
  },
});

// The host itself reads chunks that are scripts.
const { readFileSync } = fs;
fs.readFileSync = ((...given: Parameters<typeof readFileSync>) => {
  const read = readFileSync(...given);
  const [path] = given;
  return typeof path === "string" && path.endsWith(".script.js") ? changed(String(read)) : read;
}) as typeof readFileSync;
syncBuiltinESMExports();

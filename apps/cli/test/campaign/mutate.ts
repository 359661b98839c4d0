import { registerHooks } from "node:module";
import { env } from "node:process";
import { type Mutant, mutants, stops } from "./mutants.ts";

// Preloaded into a built host: disables one mechanism, or stops the host before one of its changes.
const [kind = "", at] = (env.TAU_CAMPAIGN_STOP_AT ?? "").split(" ");
const changes: readonly (Mutant | undefined)[] = [
  mutants[env.TAU_CAMPAIGN_MUTANT ?? ""],
  stops[kind]?.(Number(at)),
];
registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (!url.includes("/apps/cli/dist/")) return loaded;
    const source = changes.reduce(
      (text, change) => (change === undefined ? text : text.replace(change.find, change.put)),
      String(loaded.source),
    );
    return { ...loaded, source };
  },
});

import { registerHooks } from "node:module";
import { env } from "node:process";
import { mutants } from "./mutants.ts";

// Preloaded into a built host: takes one mechanism out.
const mutant = mutants[env.TAU_CAMPAIGN_MUTANT ?? ""];
if (mutant !== undefined) {
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      if (!url.includes("/apps/cli/dist/")) return loaded;
      const source = String(loaded.source);
      if (!mutant.find.test(source)) return loaded;
      return { ...loaded, source: source.replace(mutant.find, mutant.put) };
    },
  });
}

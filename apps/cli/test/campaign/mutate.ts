import { registerHooks } from "node:module";
import { env } from "node:process";
import { mutants } from "./mutants.ts";

// Preloaded into a host that runs from its sources: takes one mechanism out.
const mutant = mutants[env.TAU_CAMPAIGN_MUTANT ?? ""];
if (mutant !== undefined) {
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      if (!url.endsWith(mutant.file)) return loaded;
      const source = String(loaded.source);
      if (!source.includes(mutant.find)) throw new Error(`${mutant.file} has changed`);
      return { ...loaded, source: source.replace(mutant.find, mutant.put) };
    },
  });
}

/**
 * Properties use different values in each run, except in CI: a failure there repeats with the same commit,
 * and what passed on a clean clone also passes there.
 */
import { configureGlobal } from "fast-check";
import { seed } from "./slice.ts";

if (process.env.CI) configureGlobal({ seed });

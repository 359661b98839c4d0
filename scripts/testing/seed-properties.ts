/**
 * Properties take other values in each run, except in CI: what fails there fails again with the same
 * commit, and what passed on a clean clone passes there.
 */
import { configureGlobal } from "fast-check";
import { seed } from "./slice.ts";

if (process.env.CI) configureGlobal({ seed });

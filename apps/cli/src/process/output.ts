import { isLibrary } from "./library.ts";
import { takeStdout } from "./stdout.ts";

/** The real stdout. This module is imported before all others, so that none can write to it. */
export const output = takeStdout(!isLibrary);

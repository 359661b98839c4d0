import type { CliOptions } from "./cli-options.ts";

/** Options that say which conversation to begin with, or how to show it; an editor decides both. */
export const foreignToEditors: ReadonlySet<keyof CliOptions> = new Set<keyof CliOptions>([
  "mode",
  "print",
  "session",
  "continue",
  "resume",
  "fork",
  "sessionId",
  "noSession",
  "name",
  "cwd",
  "protocol",
  "outputSchema",
  "trajectoryFile",
  "verbatim",
  "maxTurns",
  "resumeInterrupted",
  "export",
  "listModels",
  "sessions",
]);

import type { CliOptions } from "./cli-options.ts";

/** Options that choose the conversation to start with or how it is shown; in an editor, the editor decides both. */
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

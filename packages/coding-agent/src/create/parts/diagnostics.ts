import { environmentChanges, type FileDiagnosis, type ToolEnvironment } from "@tau-agent/system";
import { SessionDiagnostics } from "../../diagnostics/session-diagnostics.ts";
import type { SessionDraft } from "./session-draft.ts";

/** What looks at the changes of files; nothing is started before the first that matches. */
export function createDiagnostics(
  draft: SessionDraft,
  environment: ToolEnvironment,
): FileDiagnosis {
  const { settings, options } = draft.surroundings;
  return new SessionDiagnostics({
    entries: () => options.diagnostics?.entries ?? settings.get("diagnostics.entries"),
    timeoutMs: () => settings.get("diagnosticsTimeoutMs"),
    place: () => {
      const { cwd, workspace, isWindows } = environment;
      return { cwd, workspace, isWindows, variables: environmentChanges(environment) };
    },
    note: (problem) => draft.parts.problems.noteOnce(problem),
  });
}

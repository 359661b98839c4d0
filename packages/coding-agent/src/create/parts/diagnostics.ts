import { environmentChanges, type FileDiagnosis, type ToolEnvironment } from "@tau-agent/system";
import type { CheckedPlace } from "../../diagnostics/checked-place.ts";
import type { ServerPlace } from "../../diagnostics/language-servers.ts";
import { SessionDiagnostics } from "../../diagnostics/session-diagnostics.ts";
import { localWorkspace } from "../../tools/common/local-place.ts";
import type { SessionDraft } from "./session-draft.ts";

/** Checks changed files; no check is started before the first file that matches. */
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
    joinServer: (entry, place) =>
      options.sharing.languageServers.join(entry, serverPlace(draft, environment, place)),
    note: (problem) => draft.parts.problems.noteOnce(problem),
  });
}

/** The place of a server that may outlive the session. */
function serverPlace(
  { surroundings: { workspace, sandboxed } }: SessionDraft,
  environment: ToolEnvironment,
  place: CheckedPlace,
): ServerPlace {
  const { cwd, variables } = place;
  const there = sandboxed.workspace ?? workspace;
  if (there !== undefined) {
    const open = () => ({ ...place, workspace: there, close: async () => {} });
    return { connection: there, key: JSON.stringify([cwd, sorted(variables)]), open };
  }
  const { homeDirectory, fileQueue, environment: inherited, protectedFiles } = environment;
  const { here: sandbox } = sandboxed;
  return {
    connection: undefined,
    key: JSON.stringify([cwd, sorted(variables), sorted(inherited), sandbox?.origin]),
    open: (processes) => {
      const limits = sandbox?.apart(cwd);
      const own = { cwd, processes, sandbox: limits };
      const shared = { homeDirectory, fileQueue, environment: inherited, protectedFiles };
      const local = localWorkspace({ ...shared, ...own });
      return { ...place, workspace: local, close: async () => limits?.close() };
    },
  };
}

const sorted = (variables: Readonly<Record<string, string | null | undefined>>) =>
  Object.entries(variables).sort(([a], [b]) => (a < b ? -1 : 1));

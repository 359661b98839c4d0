import { existsSync } from "node:fs";
import { createCommandRunner } from "@tau-agent/models";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import type { Diagnostic, OpenedSandbox, SandboxParts, SandboxPolicy } from "@tau-agent/system";
import { droppedByPolicy, policyDenied } from "../../policy/policy-denied.ts";
import type { SessionBase } from "./session-base.ts";

/**
 * Opens the sandbox that settings and options ask for. The project's part applies even before the project is trusted.
 *
 * @throws {SessionError} `invalid_settings` and `invalid_option`, because a mistake must not mean no sandbox;
 *   `policy_denied`; `sandbox_unavailable` if a remote workspace has none
 */
export async function createSandbox(
  base: Omit<SessionBase, "sandboxed">,
): Promise<SandboxParts & { readonly diagnostics: readonly Diagnostic[] }> {
  const { places, settings, workingFolder, options } = base;
  const { sandbox: given, secrets } = options;
  const ceiling = base.policy?.merged.sandbox;
  const isWanted = (given ?? secrets ?? ceiling) !== undefined || settings.sandboxFiles.length > 0;
  // Without a sandbox, nothing is loaded.
  if (!isWanted) return { diagnostics: [] };
  const { settleSandbox } = await import("@tau-agent/system/sandbox-settings");
  const { isProjectTrusted, sandboxFiles } = settings;
  const beyond: Diagnostic[] = [];
  const limit = ceiling && {
    ceiling,
    places: { cwd: workingFolder.cwd, homeDirectory: (base.disk ?? places).homeDirectory },
    onExcess: (member: string, path?: string) => {
      // A subagent's write paths come from its caller.
      const isCallers = (options.taskDepth ?? 0) > 0 && member === "sandbox.write";
      if (path === undefined && !isCallers) {
        throw policyDenied(member, "the sandbox is stricter");
      }
      beyond.push(droppedByPolicy(member, "its value counts where this one asks for more.", path));
    },
  };
  const settled = settleSandbox(sandboxFiles, { isProjectTrusted, given, secrets, limit });
  const { policy } = settled;
  const diagnostics = [...settled.diagnostics, ...beyond];
  if (policy.mode === "off") return { policy, diagnostics };
  const opened = await openSandboxIn(base, policy, () => workingFolder.cwd);
  const { available, reason, remedy } = opened.check;
  if (available) {
    const missing = await missingPaths(base, policy.write);
    return { ...opened, policy, diagnostics: [...diagnostics, ...missing.map(missingPath)] };
  }
  const message = `The sandbox is not available: ${reason}. ${remedy}`;
  const missing: Diagnostic = { severity: "error", code: "sandbox_unavailable", message };
  return { ...opened, policy, diagnostics: [...diagnostics, missing] };
}

/**
 * Opens a sandbox around a folder, where the session's commands run.
 *
 * @throws {SessionError} `sandbox_unavailable`
 */
export async function openSandboxIn(
  base: Omit<SessionBase, "sandboxed">,
  policy: SandboxPolicy,
  cwd: () => string,
): Promise<OpenedSandbox & Pick<SandboxParts, "workspace">> {
  const { places, environment, workspace, disk } = base;
  const run = createCommandRunner({ processes: base.processes });
  const sources = { environment, runCommand: (command: string) => run(command, environment) };
  const { hostProcesses } = base.options;
  const here = { ...places, environment, hostProcesses, keyFiles: places.secretFiles };
  if (workspace === undefined || disk === undefined) {
    const { openSandbox } = await import("@tau-agent/system/open-sandbox");
    return openSandbox(policy, { ...here, cwd }, sources);
  }
  if (workspace.sandboxes === undefined) {
    const reason =
      "only a tau exec-server of this version, on Linux or macOS, has one. Use the form {command} with it, or set sandbox.mode to off";
    throw new SessionError("sandbox_unavailable", { workspace: workspace.id, reason });
  }
  const { openSandboxElsewhere } = await import("@tau-agent/system/open-sandbox-elsewhere");
  const { homeDirectory } = disk;
  return openSandboxElsewhere(policy, { workspace, cwd, homeDirectory, here }, sources);
}

/** The paths of `sandbox.write` that do not exist. */
async function missingPaths(
  { places, workingFolder, workspace, disk }: Omit<SessionBase, "sandboxed">,
  paths: readonly string[],
): Promise<readonly string[]> {
  const { settingPath } = await import("@tau-agent/system/sandbox-settings");
  const { homeDirectory } = disk ?? places;
  const isThere = async (path: string): Promise<boolean> => {
    const absolute = settingPath(path, { cwd: workingFolder.cwd, homeDirectory });
    if (workspace === undefined) return existsSync(absolute);
    return (await workspace.stat(absolute)) !== undefined;
  };
  const found = await Promise.all(paths.map(isThere));
  return paths.filter((_, at) => !found[at]);
}

/** The path is not created, because it could be meant as a folder or a file. */
function missingPath(path: string): Diagnostic {
  const message = `sandbox.write names ${path}, which does not exist, so commands cannot write it. Make it (mkdir -p ${path}) if it is to be a folder; later commands can write it then`;
  return { severity: "warning", code: "sandbox_path_missing", message };
}

import { existsSync } from "node:fs";
import { createCommandRunner } from "@tau-agent/models";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import type { Diagnostic, SandboxParts } from "@tau-agent/system";
import { droppedByPolicy, policyDenied } from "../../policy/policy-denied.ts";
import type { SessionBase } from "./session-base.ts";

/**
 * Opens the sandbox that settings and options ask for. A project's part counts before it is trusted.
 *
 * @throws {SessionError} `invalid_settings` and `invalid_option`: what is not understood must not be no
 * sandbox; `policy_denied`; `sandbox_unavailable` in a workspace elsewhere
 */
export async function createSandbox(
  base: Omit<SessionBase, "sandboxed">,
): Promise<SandboxParts & { readonly diagnostics: readonly Diagnostic[] }> {
  const { places, settings, workingFolder, environment, options } = base;
  const { sandbox: given, secrets, hostProcesses } = options;
  const ceiling = base.policy?.merged.sandbox;
  const isWanted = (given ?? secrets ?? ceiling) !== undefined || settings.sandboxFiles.length > 0;
  // Nothing is loaded for those who want none.
  if (!isWanted) return { diagnostics: [] };
  const { settleSandbox, settingPath } = await import("@tau-agent/system/sandbox-settings");
  const { isProjectTrusted, sandboxFiles } = settings;
  const beyond: Diagnostic[] = [];
  const limit = ceiling && {
    ceiling,
    places: { cwd: workingFolder.cwd, homeDirectory: places.homeDirectory },
    onExcess: (member: string, path?: string) => {
      // A subagent is given its caller's paths.
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
  if (places.workspaceId !== undefined) {
    const reason = "sandboxes are only there for this machine. Set sandbox.mode to off";
    throw new SessionError("sandbox_unavailable", { workspace: places.workspaceId, reason });
  }
  const { openSandbox } = await import("@tau-agent/system/open-sandbox");
  const run = createCommandRunner({ processes: base.processes });
  const opened = await openSandbox(
    policy,
    {
      ...places,
      cwd: () => workingFolder.cwd,
      environment,
      hostProcesses,
      keyFiles: places.secretFiles,
    },
    { environment, runCommand: (command) => run(command, environment) },
  );
  const { available, reason, remedy } = opened.check;
  if (available) {
    const folders = { cwd: workingFolder.cwd, homeDirectory: places.homeDirectory };
    const missing = policy.write.filter((path) => !existsSync(settingPath(path, folders)));
    return { ...opened, policy, diagnostics: [...diagnostics, ...missing.map(missingPath)] };
  }
  const message = `The sandbox is not available: ${reason}. ${remedy}`;
  const missing: Diagnostic = { severity: "error", code: "sandbox_unavailable", message };
  return { ...opened, policy, diagnostics: [...diagnostics, missing] };
}

/** It is not created, because it is unknown whether a folder or a file is wanted. */
function missingPath(path: string): Diagnostic {
  const message = `sandbox.write names ${path}, which does not exist, so commands cannot write it. Make it (mkdir -p ${path}) if it is to be a folder; later commands can write it then`;
  return { severity: "warning", code: "sandbox_path_missing", message };
}

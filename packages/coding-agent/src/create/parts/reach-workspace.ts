import { type JsonObject, nearestHint, SessionError } from "@tau-agent/rpc-protocol/plain";
import type { Workspace } from "@tau-agent/rpc-protocol/workspace";
import { KnownKeys, type ProcessRegistry, SettingsStore } from "@tau-agent/system";
import { policyDenied } from "../../policy/policy-denied.ts";
import type { SessionPolicy } from "../../policy/session-policy.ts";
import { WorkspaceStanding } from "../../session/workspace-standing.ts";
import type { SessionSetup } from "../options/session-options.ts";

/** A workspace outside of the host's own machine, or one that another program provides. */
export interface ReachedWorkspace {
  readonly workspace: Workspace;
  readonly standing: WorkspaceStanding;
  /** Closes a connection that was opened for the session. */
  readonly close?: (() => Promise<void>) | undefined;
}

interface Way {
  readonly agentDirectory: string;
  readonly processes: ProcessRegistry;
  readonly policy: SessionPolicy | undefined;
}

/**
 * Reaches the workspace that the options name; undefined for the host's own machine.
 *
 * @throws {SessionError} `invalid_option`, `policy_denied`, `workspace_unreachable`
 */
export async function reachWorkspace(
  options: SessionSetup,
  way: Way,
): Promise<ReachedWorkspace | undefined> {
  const { workspace: asked } = options;
  if (asked === undefined) return undefined;
  const { policy } = way;
  if (policy !== undefined) refuseByPolicy(asked, policy);
  if (typeof asked === "object" && "spawn" in asked) {
    const kind = asked.id === "local" ? "local" : "object";
    return { workspace: asked, standing: new WorkspaceStanding(asked.id, kind) };
  }
  const { agentDirectory, processes } = way;
  // Only the user's settings: a project must not start programs on this machine.
  const settings =
    options.settings ?? (await SettingsStore.load({ agentDirectory, cwd: agentDirectory }));
  if (options.isWorkspaceOfClient && typeof asked === "object") {
    if (policy?.merged.sandbox !== undefined || policy?.merged.workspaces !== undefined) {
      const names = "clients only name workspaces of the settings";
      throw policyDenied("workspaces", names);
    }
    await refuseProgramOfClient(settings, options);
  }
  const { connectWorkspace, readWorkspaceSpec, workspaceIdOf } = await import(
    "@tau-agent/system/workspaces"
  );
  const isNamed = typeof asked === "string";
  const found = isNamed ? named(asked, settings) : asked;
  const name = isNamed ? `workspaces.${asked}` : "workspace";
  // The requested folder is the default if the spec has none.
  const isCallers = (options.taskDepth ?? 0) > 0;
  const spec = readWorkspaceSpec({ cwd: options.cwd, ...found }, { name, isCallers });
  const kind = "command" in spec ? "command" : "shell" in spec ? "shell" : "client";
  const standing = new WorkspaceStanding(workspaceIdOf(spec), kind);
  const known = new KnownKeys(agentDirectory).read();
  const workspace = await connectWorkspace(spec, {
    environment: options.environment ?? {},
    keyVariables: known.variables,
    namedVariables: [...known.namedVariables, ...(await secretSources(settings, options))],
    processes,
    client: options.clientPlace,
    isCallers,
    reconnectMs: settings.get("workspace.reconnectMs"),
    onStatus: (status, reason) => standing.note(status, reason),
  });
  return { workspace, standing, close: async () => workspace.dispose?.() };
}

/** @throws {SessionError} `policy_denied` */
function refuseByPolicy(
  asked: NonNullable<SessionSetup["workspace"]>,
  policy: SessionPolicy,
): void {
  const name = typeof asked === "string" ? asked : "spawn" in asked ? asked.id : undefined;
  if (name === "local" || policy.allowsWorkspace(name)) return;
  const shown = name === undefined ? "this one has no name" : `${name} is none of its workspaces`;
  throw policyDenied("workspaces", shown);
}

/** Variables whose values no command may see, and therefore no program that runs commands either. */
async function secretSources(
  { sandboxFiles }: SettingsStore,
  { sandbox: given, secrets }: SessionSetup,
): Promise<readonly string[]> {
  if ((given ?? secrets) === undefined && sandboxFiles.length === 0) return [];
  const { settleSandbox, sourceVariables } = await import("@tau-agent/system/sandbox-settings");
  const { policy } = settleSandbox(sandboxFiles, { isProjectTrusted: false, given, secrets });
  return sourceVariables(policy.secrets);
}

/**
 * Refuses a client's workspace program, which would run on this machine outside of any sandbox.
 *
 * @throws {SessionError} `policy_denied`
 */
async function refuseProgramOfClient(
  { sandboxFiles }: SettingsStore,
  { sandbox: given }: SessionSetup,
): Promise<void> {
  const { settleSandbox } = await import("@tau-agent/system/sandbox-settings");
  const { policy } = settleSandbox(sandboxFiles, { isProjectTrusted: false, given });
  if (policy.mode === "off") return;
  const reason = "sandbox.mode is on, so a client may only name a workspace of the settings";
  throw new SessionError("policy_denied", { member: "workspace", reason });
}

/** @throws {SessionError} `invalid_option` for a name that is not in the settings */
function named(name: string, settings: SettingsStore): JsonObject {
  const known = settings.get("workspaces");
  const found = Object.hasOwn(known, name) ? known[name] : undefined;
  if (found !== undefined) return found;
  const names = Object.keys(known);
  const reason = `the settings name no workspace ${JSON.stringify(name)}${nearestHint(name, names)}`;
  throw new SessionError("invalid_option", { option: "workspace", reason });
}

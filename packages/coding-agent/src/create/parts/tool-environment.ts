import { realpathSync } from "node:fs";
import { join, win32 } from "node:path";
import { takesDocuments } from "@tau-agent/ai";
import type { Workspace } from "@tau-agent/rpc-protocol/workspace";
import {
  attempt,
  createOutputMask,
  type FileDiagnosis,
  FileQueue,
  isolatedTreeOf,
  keyFileNames,
  type LocalWorkspace,
  ProtectedFiles,
  type ToolEnvironment,
  type WebAccess,
} from "@tau-agent/system";
import { type ClosedPaths, createClosedPaths } from "../../permissions/closed-paths.ts";
import { copyThere, isolatedCopyOf } from "../../permissions/isolated-paths.ts";
import { realPathsIn } from "../../permissions/real-paths.ts";
import { createVisitedHosts, type VisitedHosts } from "../../permissions/visited-hosts.ts";
import type { Disk } from "../../resources/files/disk.ts";
import type { PromptResources } from "../../resources/resources.ts";
import type { AgentSession } from "../../session/agent-session.ts";
import type { SessionTelemetry } from "../../telemetry/session-telemetry.ts";
import { localWorkspace } from "../../tools/common/local-place.ts";
import type { SessionSetup } from "../options/session-options.ts";
import { createDiagnostics } from "./diagnostics.ts";
import type { Durability } from "./durability.ts";
import { outputPlaceOf } from "./output-place.ts";
import { ownTextsOf } from "./own-texts.ts";
import type { SessionDraft } from "./session-draft.ts";
import { createWebAccess } from "./web-access.ts";

interface EnvironmentParts {
  readonly clientUris: ToolEnvironment["clientUris"];
  readonly telemetry: SessionTelemetry | undefined;
  readonly durability: Durability | undefined;
  readonly resources: Pick<PromptResources, "skills">;
}

export function createToolEnvironment(
  draft: SessionDraft,
  { telemetry, durability, resources, clientUris }: EnvironmentParts,
): ToolEnvironment {
  const { options, places, settings, workingFolder, permissions } = draft.surroundings;
  const { environment, processes, workspace, disk, policy } = draft.surroundings;
  const { sandboxed } = draft.surroundings;
  const { sandbox } = sandboxed;
  const { agentDirectory } = places;
  const { keys } = draft;
  let closed: ClosedPaths | undefined;
  let visited: VisitedHosts | undefined;
  let web: WebAccess | undefined;
  let fileDiagnosis: FileDiagnosis | undefined;
  const closedTo = [agentDirectory, ...places.secretFiles].join("\0");
  const protectedFiles = options.sharing.protectedFiles.get(
    closedTo,
    () => new ProtectedFiles(agentDirectory, keyFileNames, places.secretFiles),
  );
  const shellPath = settings.get("shellPath");
  const isManaged = (policy?.merged.sandbox?.mode ?? "off") !== "off";
  const fileQueue = new FileQueue();
  const { homeDirectory } = disk ?? places;
  const acting =
    workspace === undefined
      ? placesHere(options, () =>
          localWorkspace({
            ...{ cwd: workingFolder.cwd, homeDirectory, fileQueue },
            ...{ environment, processes, sandbox, shellPath, protectedFiles },
          }),
        )
      : placesThere(workspace, sandboxed.workspace, disk?.path === win32);
  return {
    homeDirectory,
    additionalDirectories: places.additionalDirectories,
    ...outputPlaceOf(draft.surroundings),
    environment,
    ownTexts:
      disk &&
      ownTextsOf(resources, {
        ...{ homeDirectory: places.homeDirectory, environment, processes },
        ...{ protectedFiles, fileQueue },
      }),
    processes,
    clientUris,
    sandbox,
    encloseFolder:
      sandbox &&
      (async (cwd) => {
        const { encloseFolder } = await import("./enclose-folder.ts");
        return encloseFolder(draft, { cwd, sandbox, protectedFiles, fileQueue, durability });
      }),
    // No one may let a call out of a sandbox that the host's policy requires.
    askToLeave: isManaged ? undefined : (...question) => draft.parts.gate.askToLeave(...question),
    get cwd() {
      return workingFolder.cwd;
    },
    ...isolatedFolders(draft),
    fileQueue,
    shellPath,
    shellCommandPrefix: settings.get("shellCommandPrefix"),
    get keyVariables() {
      return keys.known.read().variables;
    },
    closedBelow(tool, root) {
      closed ??= createClosedPaths(permissions, this, realPathsIn(this));
      return closed.below(tool, root);
    },
    get fileDiagnosis() {
      fileDiagnosis ??= createDiagnostics(draft, this);
      return fileDiagnosis;
    },
    get web() {
      web ??= createWebAccess(draft.surroundings, () => {
        visited ??= createVisitedHosts(permissions, this, realPathsIn(this));
        return visited;
      });
      return web;
    },
    get namedVariables() {
      return keys.known.read().namedVariables;
    },
    protectedFiles,
    bashTimeoutMs: settings.get("bash.timeoutMs"),
    createOutputMask: () => (settings.get("tools.maskKeys") ? createOutputMask(keys) : undefined),
    ...acting,
    ...durability?.own(acting),
    inheritKeys: settings.get("bash.inheritKeys"),
    modelSupportsImages: () => draft.session.models.model?.input.includes("image") ?? true,
    modelReadsDocuments: () => {
      const { model } = draft.session.models;
      return model !== undefined && takesDocuments(model);
    },
    sessionVariables: () => sessionVariables(draft.session),
    traceparentOf: telemetry && ((toolCallId) => telemetry.traceparentOf(toolCallId)),
  };
}

/** Whether the session's folder is an isolated copy for a task, and the folder that writes are limited to. */
function isolatedFolders({
  surroundings: { options, places, workingFolder, disk },
}: SessionDraft): Pick<ToolEnvironment, "copy" | "writeRoot"> {
  const { agentDirectory } = places;
  return {
    copy: () => {
      const standsFor = options.taskFolder;
      if (standsFor === undefined || !workingFolder.isHome) return undefined;
      const { cwd } = workingFolder;
      return disk === undefined
        ? isolatedCopyOf(cwd, { standsFor, worktreesRoot: join(agentDirectory, "worktrees") })
        : copyThere(cwd, { standsFor, worktreesRoot: worktreesThere(disk) });
    },
    writeRoot: () =>
      disk === undefined
        ? writeRootOf(workingFolder.cwd, agentDirectory)
        : isolatedTreeOf(workingFolder.cwd, worktreesThere(disk)),
  };
}

/** The workspace on this machine, with the client's overlay. */
function placesHere(
  { overlay }: SessionSetup,
  createLocal: () => LocalWorkspace,
): Pick<ToolEnvironment, "workspace" | "workspaceOf" | "outside"> {
  const local = createLocal();
  const outside = () => local.withoutSandbox();
  if (overlay === undefined) return { workspace: local, outside };
  const { isSandboxed } = local;
  return {
    workspace: overlay(local),
    // A call that runs at the client has no sandbox of this host around it.
    workspaceOf: (toolCallId) => (isSandboxed ? local : overlay(local, toolCallId)),
    outside,
  };
}

/** A remote workspace, with the part inside the session's sandbox there. */
function placesThere(
  workspace: Workspace,
  inside: Workspace | undefined,
  isWindows: boolean,
): Pick<ToolEnvironment, "workspace" | "outside" | "isWindows"> {
  if (inside === undefined) return { workspace, isWindows };
  return { workspace: inside, outside: () => workspace, isWindows };
}

/** The folder in a remote workspace that contains the trees of subagents. */
const worktreesThere = ({ homeDirectory, path }: Disk): string =>
  path.join(homeDirectory, ".cache", "tau", "worktrees");

/** The tree of an isolated subagent, which can write nothing else; in this process or its own. */
function writeRootOf(cwd: string, agentDirectory: string): string | undefined {
  // Without the folder for trees, no tree exists.
  const worktrees = attempt(() => realpathSync(join(agentDirectory, "worktrees")));
  return worktrees && attempt(() => isolatedTreeOf(realpathSync(cwd), worktrees));
}

function sessionVariables({
  log,
  models,
}: Pick<AgentSession, "log" | "models">): Record<string, string> {
  const { model } = models;
  return {
    PI_SESSION_ID: log.header.id,
    ...(log.path === undefined ? {} : { PI_SESSION_FILE: log.path }),
    ...(model === undefined ? {} : { PI_PROVIDER: model.provider, PI_MODEL: model.id }),
    PI_REASONING_LEVEL: models.thinkingLevel,
  };
}

import { realpathSync } from "node:fs";
import { join } from "node:path";
import {
  createOutputMask,
  FileQueue,
  isolatedTreeOf,
  keyFileNames,
  ProtectedFiles,
  type ToolEnvironment,
} from "@tau-agent/system";
import { ClosedPaths } from "../../permissions/closed-paths.ts";
import { isolatedCopyOf } from "../../permissions/isolated-paths.ts";
import type { AgentSession } from "../../session/agent-session.ts";
import type { SessionTelemetry } from "../../telemetry/session-telemetry.ts";
import type { SessionDraft } from "./session-draft.ts";

export function createToolEnvironment(
  draft: SessionDraft,
  telemetry: SessionTelemetry | undefined,
): ToolEnvironment {
  const { options, places, settings, workingFolder, permissions } = draft.surroundings;
  const { environment, processes } = draft.surroundings;
  const { sandbox } = draft.surroundings.sandboxed;
  const { agentDirectory } = places;
  const { keys } = draft;
  let closed: ClosedPaths | undefined;
  return {
    homeDirectory: places.homeDirectory,
    additionalDirectories: places.additionalDirectories,
    temporaryDirectory: sandbox?.outputDirectory ?? places.temporaryDirectory,
    environment,
    processes,
    sandbox,
    askToLeave: (...question) => draft.parts.gate.askToLeave(...question),
    get cwd() {
      return workingFolder.cwd;
    },
    copy: () => {
      const standsFor = options.taskFolder;
      if (standsFor === undefined || !workingFolder.isHome) return undefined;
      const worktreesRoot = join(agentDirectory, "worktrees");
      return isolatedCopyOf(workingFolder.cwd, { standsFor, worktreesRoot });
    },
    writeRoot: () => writeRootOf(workingFolder.cwd, agentDirectory),
    fileQueue: new FileQueue(),
    shellPath: settings.get("shellPath"),
    shellCommandPrefix: settings.get("shellCommandPrefix"),
    get keyVariables() {
      return keys.known.read().variables;
    },
    closedBelow(tool, root) {
      closed ??= new ClosedPaths(permissions, this);
      return closed.below(tool, root);
    },
    get namedVariables() {
      return keys.known.read().namedVariables;
    },
    protectedFiles: new ProtectedFiles(agentDirectory, keyFileNames, places.secretFiles),
    bashTimeoutMs: settings.get("bash.timeoutMs"),
    createOutputMask: () => (settings.get("tools.maskKeys") ? createOutputMask(keys) : undefined),
    files: options.files,
    runCommand: options.runCommand,
    inheritKeys: settings.get("bash.inheritKeys"),
    modelSupportsImages: () => draft.session.models.model?.input.includes("image") ?? true,
    sessionVariables: () => sessionVariables(draft.session),
    traceparentOf: telemetry && ((toolCallId) => telemetry.traceparentOf(toolCallId)),
  };
}

/** A subagent in an isolated tree changes nothing outside of that, in this process or its own. */
function writeRootOf(cwd: string, agentDirectory: string): string | undefined {
  try {
    const worktrees = realpathSync(join(agentDirectory, "worktrees"));
    return isolatedTreeOf(realpathSync(cwd), worktrees);
  } catch {
    // Without a folder for trees there is no tree.
    return undefined;
  }
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

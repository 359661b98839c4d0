import { realpathSync } from "node:fs";
import { join } from "node:path";
import {
  type CommandRunner,
  createOutputMask,
  type FileAccess,
  FileQueue,
  isolatedTreeOf,
  type KeySources,
  keyFileNames,
  type ProcessRegistry,
  ProtectedFiles,
  type SessionSandbox,
  type SettingsStore,
  type ToolEnvironment,
} from "@tau-agent/system";
import { ClosedPaths } from "../permissions/closed-paths.ts";
import { isolatedCopyOf } from "../permissions/isolated-paths.ts";
import type { SessionPermissions } from "../permissions/session-permissions.ts";
import type { AgentSession } from "../session/agent-session.ts";
import type { SessionTelemetry } from "../telemetry/session-telemetry.ts";
import type { WorkingFolder } from "./working-folder.ts";

/** What a session's tools know about their environment. */
export interface ToolSurroundings {
  readonly workingFolder: WorkingFolder;
  readonly additionalDirectories: readonly string[];
  readonly homeDirectory: string;
  readonly temporaryDirectory: string;
  /** The folder of the user that the session's folder is a copy of. */
  readonly standsFor?: string | undefined;
  readonly agentDirectory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly settings: SettingsStore;
  readonly processes: ProcessRegistry;
  readonly permissions: SessionPermissions;
  readonly sandbox?: SessionSandbox | undefined;
  readonly askToLeave: ToolEnvironment["askToLeave"];
  readonly files?: FileAccess | undefined;
  readonly runCommand?: CommandRunner | undefined;
  /** Where known keys come from. */
  readonly keySources: KeySources;
  /** Absolute paths of further files that hold keys. */
  readonly secretFiles: readonly string[];
  readonly telemetry?: SessionTelemetry | undefined;
  /** The session the tools belong to; called when a tool runs. */
  readonly session: () => Pick<AgentSession, "log" | "models">;
}

/** The environment of a session's tools. */
export function createToolEnvironment(surroundings: ToolSurroundings): ToolEnvironment {
  const { settings, session, workingFolder, homeDirectory, temporaryDirectory } = surroundings;
  const { environment, processes, agentDirectory, keySources, telemetry } = surroundings;
  let closed: ClosedPaths | undefined;
  return {
    homeDirectory,
    additionalDirectories: surroundings.additionalDirectories,
    temporaryDirectory: surroundings.sandbox?.outputDirectory ?? temporaryDirectory,
    environment,
    processes,
    sandbox: surroundings.sandbox,
    askToLeave: surroundings.askToLeave,
    get cwd() {
      return workingFolder.cwd;
    },
    copy: () => {
      const { standsFor } = surroundings;
      if (standsFor === undefined || !workingFolder.isHome) return undefined;
      const worktreesRoot = join(agentDirectory, "worktrees");
      return isolatedCopyOf(workingFolder.cwd, { standsFor, worktreesRoot });
    },
    writeRoot: () => writeRootOf(workingFolder.cwd, agentDirectory),
    fileQueue: new FileQueue(),
    shellPath: settings.get("shellPath"),
    shellCommandPrefix: settings.get("shellCommandPrefix"),
    get keyVariables() {
      return keySources.known.read().variables;
    },
    closedBelow(tool, root) {
      closed ??= new ClosedPaths(surroundings.permissions, this);
      return closed.below(tool, root);
    },
    get namedVariables() {
      return keySources.known.read().namedVariables;
    },
    protectedFiles: new ProtectedFiles(agentDirectory, keyFileNames, surroundings.secretFiles),
    bashTimeoutMs: settings.get("bash.timeoutMs"),
    createOutputMask: () =>
      settings.get("tools.maskKeys") ? createOutputMask(keySources) : undefined,
    files: surroundings.files,
    runCommand: surroundings.runCommand,
    inheritKeys: settings.get("bash.inheritKeys"),
    modelSupportsImages: () => session().models.model?.input.includes("image") ?? true,
    sessionVariables: () => sessionVariables(session()),
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

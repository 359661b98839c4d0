import { tmpdir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import type { Workspace } from "@tau-agent/rpc-protocol/workspace";
import { type SessionStart, sessionDirectoryFor } from "@tau-agent/sessions/log";
import { findHomeDirectory, type SettingsStore } from "@tau-agent/system";

export interface PlaceOptions {
  readonly cwd?: string | undefined;
  readonly additionalDirectories?: readonly string[] | undefined;
  readonly baseDirectory?: string | undefined;
  readonly agentDirectory?: string | undefined;
  readonly homeDirectory?: string | undefined;
  readonly temporaryDirectory?: string | undefined;
  readonly sessionDirectory?: string | undefined;
  readonly secretFiles?: readonly string[] | undefined;
  readonly session?: SessionStart | undefined;
}

export interface Places {
  /** The project that determines settings, extensions and trust. */
  readonly cwd: string;
  /** The workspace that contains the project; undefined for the host's own machine. */
  readonly workspaceId?: string | undefined;
  readonly additionalDirectories: readonly string[];
  /** The base for relative paths in options: the caller's folder. */
  readonly baseDirectory: string;
  readonly agentDirectory: string;
  readonly homeDirectory: string;
  readonly temporaryDirectory: string;
  /** Files with keys, in addition to those in the agent directory. */
  readonly secretFiles: readonly string[];
}

/** @param workspace - the workspace that contains the project; undefined for the host's own machine */
export function resolvePlaces(
  options: PlaceOptions,
  workspace?: Pick<Workspace, "id" | "cwd">,
): Places {
  const homeDirectory = options.homeDirectory ?? findHomeDirectory();
  const isElsewhere = workspace !== undefined && workspace.id !== "local";
  const asked = options.cwd ?? workspace?.cwd ?? homeDirectory;
  // This machine's path rules do not apply to paths of another machine.
  const cwd = isElsewhere ? asked : resolve(asked);
  const baseDirectory = resolve(options.baseDirectory ?? (isElsewhere ? homeDirectory : cwd));
  return {
    cwd,
    workspaceId: isElsewhere ? workspace.id : undefined,
    additionalDirectories: (options.additionalDirectories ?? []).map((path) =>
      isElsewhere ? path : resolve(baseDirectory, path),
    ),
    baseDirectory,
    homeDirectory,
    agentDirectory: options.agentDirectory ?? join(homeDirectory, ".pi", "agent"),
    temporaryDirectory: options.temporaryDirectory ?? tmpdir(),
    secretFiles: (options.secretFiles ?? []).map((path) => resolve(baseDirectory, path)),
  };
}

/** The folder for a project's session files; undefined for a session in memory. */
export function sessionDirectory(
  { sessionDirectory: given, session }: PlaceOptions,
  { cwd, workspaceId, baseDirectory, agentDirectory, homeDirectory }: Places,
  settings: SettingsStore,
): string | undefined {
  const isInMemory = session?.kind === "log" && session.log.path === undefined;
  if (isInMemory || session?.kind === "memory") return undefined;
  if (given !== undefined) return absolute(given, baseDirectory, homeDirectory);
  const configured = settings.get("sessionDir");
  if (configured !== undefined) return absolute(configured, cwd, homeDirectory);
  return sessionDirectoryFor(agentDirectory, { cwd, workspaceId });
}

function absolute(path: string, baseDirectory: string, homeDirectory: string): string {
  if (path === "~" || path.startsWith("~/")) return join(homeDirectory, path.slice(1));
  return isAbsolute(path) ? path : resolve(baseDirectory, path);
}

import { realpathSync, statSync } from "node:fs";
import { isAbsolute } from "node:path";
import type { SessionHeader } from "@tau-agent/rpc-protocol";
import type { SessionProject, SessionStart } from "@tau-agent/sessions/log";
import type { Diagnostic, SettingsStore } from "@tau-agent/system";
import { attempt } from "@tau-agent/system";
import { type PlaceOptions, type Places, sessionDirectory } from "./places.ts";

/** The folder that tools work in: that of the continued session, if it still exists. */
export class WorkingFolder {
  readonly #home: SessionProject;
  #cwd: string;

  /** `home` is the folder for sessions whose own folder is missing. */
  constructor(home: SessionProject) {
    this.#home = home;
    this.#cwd = home.cwd;
  }

  get cwd(): string {
    return this.#cwd;
  }

  /** Whether this is the folder that determines settings, trust and extensions. */
  get isHome(): boolean {
    return this.#cwd === this.#home.cwd;
  }

  enter(header: SessionHeader): { readonly hasMoved: boolean; readonly diagnostics: Diagnostic[] } {
    const left = this.#cwd;
    const found = folderOf(header, this.#home);
    this.#cwd = found.cwd;
    return { hasMoved: found.cwd !== left, diagnostics: found.diagnostics };
  }
}

/**
 * The folder that the session at the start belongs to, if the options leave the choice to the session.
 *
 * @returns undefined if the options determine the folder
 */
export async function storedFolder(
  options: PlaceOptions,
  places: Places,
  settings: SettingsStore,
): Promise<
  | {
      readonly places: Places;
      readonly session: SessionStart;
      readonly diagnostics: readonly Diagnostic[];
    }
  | undefined
> {
  const start = options.session;
  if (start?.kind !== "file" || start.goesToItsFolder !== true) return undefined;
  const { readHeader, sessionPathOf } = await import("@tau-agent/sessions/files");
  const directory = sessionDirectory(options, places, settings);
  const path = await sessionPathOf(start.path, places.cwd, directory);
  const header = await readHeader(path).catch(() => undefined);
  if (header === undefined) return undefined;
  const { cwd, diagnostics } = folderOf(header, places);
  return { places: { ...places, cwd }, session: { kind: "file", path }, diagnostics };
}

function folderOf(
  { cwd }: SessionHeader,
  { cwd: home, workspaceId }: SessionProject,
): { cwd: string; diagnostics: Diagnostic[] } {
  // Files of other programs may omit it.
  if (typeof cwd !== "string" || cwd === "" || isSame(cwd, home, workspaceId))
    return { cwd: home, diagnostics: [] };
  // For a remote workspace, the first call reports a missing folder.
  const isThere = workspaceId !== undefined || (isAbsolute(cwd) && isFolder(cwd));
  if (isThere) return { cwd, diagnostics: [] };
  const message = `The session's folder ${cwd} is not available here; it continues in ${home}`;
  return { cwd: home, diagnostics: [{ severity: "warning", message, path: cwd }] };
}

/** An inaccessible folder, such as another user's, counts as missing. */
function isFolder(path: string): boolean {
  return attempt(() => statSync(path).isDirectory()) ?? false;
}

function isSame(one: string, other: string, workspaceId: string | undefined): boolean {
  if (one === other || workspaceId !== undefined) return one === other;
  return attempt(() => realpathSync(one) === realpathSync(other)) ?? false;
}

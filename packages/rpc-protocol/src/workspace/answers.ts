import { isJsonObject } from "../vocabulary/json-object.ts";
import type {
  WorkspaceDescription,
  WorkspaceEntry,
  WorkspaceSandbox,
  WorkspaceSearchResult,
  WorkspaceStat,
} from "./workspace.ts";
import { WorkspaceError } from "./workspace-error.ts";

// The answers come from another program, so they are validated.

const kinds: readonly unknown[] = ["file", "directory", "symlink", "other"];
const platforms: readonly unknown[] = ["linux", "darwin", "win32"];

export function asDescription(value: unknown): WorkspaceDescription {
  const names = ["homeDirectory", "temporaryDirectory", "shell"];
  if (
    !isJsonObject(value) ||
    !platforms.includes(value.platform) ||
    !names.every((name) => typeof value[name] === "string") ||
    !Array.isArray(value.limited)
  ) {
    throw invalid("describe");
  }
  return value as unknown as WorkspaceDescription;
}

export function asStat(value: unknown): WorkspaceStat | undefined {
  if (value === null) return undefined;
  if (!isJsonObject(value) || !kinds.includes(value.kind) || typeof value.size !== "number") {
    throw invalid("stat");
  }
  return value as unknown as WorkspaceStat;
}

export function asEntries(value: unknown): readonly WorkspaceEntry[] {
  const isEntry = (entry: unknown): boolean =>
    isJsonObject(entry) && typeof entry.name === "string" && kinds.includes(entry.kind);
  if (!Array.isArray(value) || !value.every(isEntry)) throw invalid("list");
  return value as readonly WorkspaceEntry[];
}

export function asBytes(value: unknown): Uint8Array {
  if (!isJsonObject(value) || typeof value.data !== "string") throw invalid("read");
  return Buffer.from(value.data, "base64");
}

export function asSearchResult(value: unknown): WorkspaceSearchResult {
  const isMatch = (match: unknown): boolean =>
    isJsonObject(match) && typeof match.path === "string";
  if (!isJsonObject(value) || !Array.isArray(value.matches) || !value.matches.every(isMatch)) {
    throw invalid("search");
  }
  return value as unknown as WorkspaceSearchResult;
}

export function asEnded(value: unknown): { readonly ended: number } {
  if (!isJsonObject(value) || typeof value.ended !== "number") throw invalid("end_commands");
  return { ended: value.ended };
}

/** A server's description of a sandbox; anything but `true` means not available. */
export function asSandbox(value: unknown): Omit<WorkspaceSandbox, "close"> {
  if (!isJsonObject(value)) throw invalid("open_sandbox");
  const { available, mechanism, reason, remedy, denied } = value;
  const isText = (each: unknown): each is string => typeof each === "string";
  return {
    available: available === true,
    mechanism: mechanism === "bubblewrap" || mechanism === "seatbelt" ? mechanism : null,
    ...(isText(reason) && { reason }),
    ...(isText(remedy) && { remedy }),
    denied: Array.isArray(denied) ? denied.filter(isText) : [],
  };
}

function invalid(method: string): WorkspaceError {
  return new WorkspaceError("failed", `The workspace answered ${method} with something else`);
}

import { posix, win32 } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { ToolEnvironment } from "@tau-agent/system";
import { attempt } from "@tau-agent/system";

/** Where checks run: a workspace and a folder in it. */
export interface CheckedPlace extends Pick<ToolEnvironment, "cwd" | "workspace" | "isWindows"> {
  /** How a command's variables differ from those of the workspace: keys are removed. */
  readonly variables: Readonly<Record<string, string | null>>;
}

/** A place used by one server only. */
export interface OwnPlace extends CheckedPlace {
  close(): Promise<void>;
}

/** Path functions for the machine of a place. */
export function createPlacePaths({
  cwd,
  isWindows = process.platform === "win32",
}: Pick<CheckedPlace, "cwd" | "isWindows">) {
  const windows = isWindows;

  function paths() {
    return windows ? win32 : posix;
  }

  return {
    absolute(path: string): string {
      return paths().resolve(cwd, path);
    },
    /** The path relative to the folder, with slashes; absolute if it is outside. */
    relative(path: string): string {
      const relative = paths().relative(cwd, path);
      const isOutside = relative.startsWith("..") || paths().isAbsolute(relative);
      return isOutside ? path : relative.replaceAll("\\", windows ? "/" : "\\");
    },
    extension(path: string): string {
      return paths().extname(path).toLowerCase();
    },
    toUri(path: string): string {
      return pathToFileURL(path, { windows }).href;
    },
    fromUri(uri: string): string | undefined {
      return attempt(() => fileURLToPath(uri, { windows }));
    },
    /** Quoted for the shell. */
    quoted(path: string): string {
      return `'${path.replaceAll("'", `'\\''`)}'`;
    },
  };
}

export type PlacePaths = ReturnType<typeof createPlacePaths>;

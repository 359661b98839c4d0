import { posix, win32 } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { ToolEnvironment } from "@tau-agent/system";
import { attempt } from "@tau-agent/system";

/** Where checks run: the workspace of a session, and a folder of it. */
export interface CheckedPlace extends Pick<ToolEnvironment, "cwd" | "workspace" | "isWindows"> {
  /** What the variables of a command differ in from those of the workspace: it gets no keys. */
  readonly variables: Readonly<Record<string, string | null>>;
}

/** A place that a server has for itself. */
export interface OwnPlace extends CheckedPlace {
  close(): Promise<void>;
}

/** Paths of a place: of the machine that has it. */
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
    /** Below the folder, with slashes; absolute for what is not in there. */
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
    /** For the shell. */
    quoted(path: string): string {
      return `'${path.replaceAll("'", `'\\''`)}'`;
    },
  };
}

export type PlacePaths = ReturnType<typeof createPlacePaths>;

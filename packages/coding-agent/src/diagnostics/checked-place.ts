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
export class PlacePaths {
  readonly #cwd: string;
  readonly #windows: boolean;

  constructor({
    cwd,
    isWindows = process.platform === "win32",
  }: Pick<CheckedPlace, "cwd" | "isWindows">) {
    this.#cwd = cwd;
    this.#windows = isWindows;
  }

  get #path() {
    return this.#windows ? win32 : posix;
  }

  absolute(path: string): string {
    return this.#path.resolve(this.#cwd, path);
  }

  /** Below the folder, with slashes; absolute for what is not in there. */
  relative(path: string): string {
    const relative = this.#path.relative(this.#cwd, path);
    const isOutside = relative.startsWith("..") || this.#path.isAbsolute(relative);
    return isOutside ? path : relative.replaceAll("\\", this.#windows ? "/" : "\\");
  }

  extension(path: string): string {
    return this.#path.extname(path).toLowerCase();
  }

  toUri(path: string): string {
    return pathToFileURL(path, { windows: this.#windows }).href;
  }

  fromUri(uri: string): string | undefined {
    return attempt(() => fileURLToPath(uri, { windows: this.#windows }));
  }

  /** For the shell. */
  quoted(path: string): string {
    return `'${path.replaceAll("'", `'\\''`)}'`;
  }
}

import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rgPath } from "@vscode/ripgrep";
import { hostCommand } from "../host-command.ts";
import type { Workspace } from "../workspace.ts";
import type { Contestant } from "./scenario.ts";

/** The first frame that Tau receives. */
export const tauHello = {
  type: "initialize",
  stream: "delta",
};

/** Tau with the streaming form that its documentation recommends. */
export function tau(given: string | undefined): Contestant {
  const { version } = readManifest(import.meta.resolve("@tau-agent/cli/package.json"));
  return { name: "tau", version, command: hostCommand(given), hello: tauHello };
}

/** The newest installable release of pi; its bundle runs without its dependencies. */
export function pi(): Contestant {
  return piOf(
    new URL("../package.json", import.meta.resolve("@earendil-works/pi-coding-agent")).href,
  );
}

/** A release of pi that npm installed in a folder. */
export function piIn(folder: string): Contestant {
  const path = resolve(folder, "node_modules/@earendil-works/pi-coding-agent/package.json");
  return piOf(pathToFileURL(path).href);
}

function piOf(manifest: string): Contestant {
  const { version, bin } = readManifest(manifest);
  const command = [process.execPath, fileURLToPath(new URL(bin?.pi ?? "", manifest))] as const;
  return { name: "pi", version, command };
}

/** A host given by its command line. */
export function otherPeer(commandLine: string): Contestant {
  const [program = "", ...args] = commandLine.split(" ");
  return { name: commandLine, version: "", command: [program, ...args] };
}

/** Gives a host the programs that pi would otherwise download: Tau's ripgrep, and `fd` from the PATH. */
export function addSearchPrograms(workspace: Workspace): void {
  const folder = join(workspace.agentDirectory, "bin");
  mkdirSync(folder);
  symlinkSync(rgPath, join(folder, "rg"));
  const fd = (process.env.PATH ?? "")
    .split(delimiter)
    .flatMap((directory) => [join(directory, "fd"), join(directory, "fdfind")])
    .find((path) => existsSync(path));
  if (fd) symlinkSync(fd, join(folder, "fd"));
}

interface Manifest {
  readonly version: string;
  readonly bin?: Readonly<Record<string, string>>;
}

function readManifest(url: string): Manifest {
  return JSON.parse(readFileSync(fileURLToPath(url), "utf8")) as Manifest;
}

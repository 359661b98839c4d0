import { existsSync, readdirSync, readlinkSync, statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { isInside } from "../../base/files/isolated-tree.ts";
import type { PrivateFolders } from "../paths/private-folders.ts";
import { resolveLinks } from "../paths/resolve-links.ts";
import { closedNames, type SandboxPaths } from "../paths/sandbox-paths.ts";
import { hostSockets } from "./host-sockets.ts";
import type { Mount } from "./mount.ts";
import type { RestlessSockets } from "./restless-sockets.ts";

export interface MountPlan {
  readonly paths: SandboxPaths;
  readonly folders: PrivateFolders;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Whether the working folder is read-only. */
  readonly isReadOnly: boolean;
  readonly hasNetwork: boolean;
  readonly program: string;
  /** Sockets on which this host listens for its clients. */
  readonly ownSockets: readonly string[];
  /** Leaves out short-lived sockets. */
  readonly restless: RestlessSockets;
  readonly openSockets: readonly string[];
  /** More folders that a command of the host itself may read and write. */
  readonly alsoReadable: readonly string[];
  readonly alsoWritable: readonly string[];
}

/** Folders below the empty `/run` that contain programs. */
const programFolders = ["/run/current-system", "/run/wrappers", "/run/opengl-driver"];

/** Sockets that give full control of the machine, whatever the network setting. */
const controlSockets = [
  "/run/docker.sock",
  "/var/run/docker.sock",
  "/run/containerd",
  "/run/podman",
  "/run/crio",
  "/run/dbus",
  "/run/systemd/private",
];

/** The mounts of a command, without those for protected places in the working folder. */
export function mountsOf(plan: MountPlan, sockets: readonly string[]): readonly Mount[] {
  const { paths, folders, isReadOnly, openSockets } = plan;
  const { cwd, named, treeRepository } = paths;
  return [
    ...folders.mounts.map(({ seen, real }) => writable(seen, real)),
    ...folders.mounts.map(({ real }) => writable(real)),
    ...[folders.output, ...paths.shown]
      .filter((path) => existsSync(path))
      .map((path) => readOnly(path)),
    ...ownPrograms(plan).map((path) => readOnly(path)),
    ...(isReadOnly ? [readOnly(cwd)] : []),
    ...named.filter((path) => existsSync(path)).map((path) => writable(path)),
    ...agentMounts(paths.agentDirectory),
    ...plan.alsoReadable.map((path) => readOnly(path)),
    ...plan.alsoWritable.map((path) => writable(path)),
    ...(isReadOnly || treeRepository === undefined ? [] : [writable(treeRepository)]),
    ...sockets.map((path) => readOnly(path, closedLike(path, folders))),
    ...runMounts(plan),
    ...openSockets.map((path) => readOnly(path)),
    ...paths.denied.filter((path) => existsSync(path)).flatMap((path) => closedMounts(path, plan)),
  ];
}

/** Programs that the host runs inside, if a private folder would hide them. */
function ownPrograms({ paths, program }: MountPlan): readonly string[] {
  return [program, process.execPath].filter(
    (path) => isAbsolute(path) && paths.hostPath(path) !== path && existsSync(path),
  );
}

function writable(path: string, from?: string): Mount {
  return { kind: "writable", path, from };
}

function readOnly(path: string, from?: string): Mount {
  return { kind: "readOnly", path, from };
}

/** The agent directory without its keys, including keys that are stored later. */
function agentMounts(agentDirectory: string): readonly Mount[] {
  if (!existsSync(agentDirectory)) return [];
  const entries = readdirSync(agentDirectory, { withFileTypes: true });
  return [
    { kind: "empty", path: agentDirectory },
    ...entries
      .filter(({ name }) => !closedNames.has(name))
      .map((entry): Mount => {
        const path = join(agentDirectory, entry.name);
        if (!entry.isSymbolicLink()) return readOnly(path);
        return { kind: "link", path, target: readlinkSync(path) };
      }),
  ];
}

/** Closes a path. A mount cannot be renamed away, so neither can the writable folders around it. */
function closedMounts(path: string, { paths, folders }: MountPlan): readonly Mount[] {
  const mounts = [readOnly(path, closedLike(path, folders))];
  const outer = paths.named.find((folder) => folder !== path && isInside(folder, path));
  if (outer === undefined) return mounts;
  for (let at = dirname(path); at !== outer && isInside(outer, at); at = dirname(at)) {
    mounts.push(writable(at));
  }
  return mounts;
}

/** Sockets, and folders with sockets, that a command must not reach. */
export function closedSockets({
  paths,
  environment,
  hasNetwork,
  ownSockets,
  openSockets,
  restless,
}: MountPlan): readonly string[] {
  const { named, bound: all } = hostSockets(environment);
  const bound = [...new Set([...named, ...restless.lasting(all), ...ownSockets])];
  const isControl = (path: string) => /docker|containerd|podman|bus/i.test(path);
  const wanted = hasNetwork
    ? [...controlSockets, ...ownSockets, ...bound.filter(isControl)]
    : bound;
  return (
    [...new Set(wanted.map((path) => resolveLinks(path).path))]
      .filter((path) => hasNetwork || !isInside("/run", path))
      .filter((path) => !openSockets.includes(path) && existsSync(path))
      // A private folder already hides the host's socket.
      .filter((path) => paths.hostPath(path) === path)
  );
}

/** Without the network, `/run` contains only programs. */
function runMounts({ hasNetwork }: MountPlan): readonly Mount[] {
  if (hasNetwork || !existsSync("/run")) return [];
  const programs = programFolders.filter((path) => existsSync(path)).map((path) => readOnly(path));
  return [{ kind: "empty", path: "/run" }, ...programs];
}

function closedLike(path: string, folders: PrivateFolders): string {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory()
    ? folders.closedFolder
    : folders.closedFile;
}

import { type StartSigns, statusDescriptor } from "../../processes/sandbox.ts";
import { inMountOrder, type Mount } from "./mount.ts";

export interface Enclosure {
  readonly cwd: string;
  readonly mounts: readonly Mount[];
  readonly hasNetwork: boolean;
}

/** The namespaces and limits of every command; the preflight tries these. */
export const isolationArguments: readonly string[] = [
  "--unshare-user",
  "--unshare-pid",
  "--unshare-ipc",
  "--unshare-uts",
  "--unshare-cgroup-try",
  // No process outlives the call, and bubblewrap does not outlive its host.
  "--die-with-parent",
  // Without a terminal to which a command could inject input.
  "--new-session",
  "--cap-drop",
  "ALL",
];

/** Makes bubblewrap write to a descriptor how the command ended, which it does only if the command ran. */
export const statusArguments: readonly string[] = ["--json-status-fd", String(statusDescriptor)];

/** How bubblewrap ends if it could not set up the sandbox, given {@link statusArguments}. */
export const bubblewrapSigns: StartSigns = {
  ranMark: '"exit-code"',
  errorPrefix: "bwrap: ",
  exitCode: 1,
};

/** bubblewrap's arguments for a command, without the command. */
export function bubblewrapArguments({ cwd, mounts, hasNetwork }: Enclosure): readonly string[] {
  return [
    ...isolationArguments,
    ...(hasNetwork ? [] : ["--unshare-net"]),
    ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"],
    ...inMountOrder(mounts).flatMap(argumentsOf),
    // Folders that were made for mounts accept nothing else.
    ...mounts.flatMap((mount) => (mount.kind === "empty" ? ["--remount-ro", mount.path] : [])),
    ...["--chdir", cwd, "--"],
  ];
}

function argumentsOf(mount: Mount): readonly string[] {
  const { kind, path } = mount;
  if (kind === "empty") return ["--tmpfs", path];
  if (kind === "link") return ["--symlink", mount.target, path];
  return [kind === "writable" ? "--bind" : "--ro-bind", mount.from ?? path, path];
}

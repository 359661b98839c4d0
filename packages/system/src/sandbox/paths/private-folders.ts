import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { isInside } from "../../base/files/isolated-tree.ts";
import { isRunning } from "../../base/is-running.ts";

/**
 * Folders of this machine: containers may share a temporary folder, but not their processes. Short, because
 * the path of a socket has a limit.
 */
const PREFIX = `tau-sandbox-${hostname().slice(0, 20)}-`;

/** The private folders of a session's sandbox in the host's temporary folder. */
export class PrivateFolders {
  readonly root: string;
  /** A folder of the sandbox and its path on the host. */
  readonly mounts: readonly { readonly seen: string; readonly real: string }[];
  /** Where the host writes long outputs of commands; also read from outside, and by later hosts. */
  readonly output: string;
  /** A file that nobody can read. */
  readonly closedFile: string;
  /** A folder that nobody can enter. */
  readonly closedFolder: string;

  /** The sandbox's temporary folder, as a path inside. */
  readonly temporaryDirectory: string;

  /** @param isShared whether paths inside are the same as on the host, as with Seatbelt */
  constructor(temporaryDirectory: string, isShared: boolean) {
    const parent = realpathSync(temporaryDirectory);
    removeLeft(parent);
    this.root = mkdtempSync(join(parent, `${PREFIX}${process.pid}-`));
    const [tmp, shm] = [join(this.root, "tmp"), join(this.root, "shm")];
    for (const folder of [tmp, shm]) mkdirSync(folder, 0o700);
    this.mounts = [
      { seen: isShared ? tmp : "/tmp", real: tmp },
      { seen: isShared ? shm : "/dev/shm", real: shm },
    ];
    this.temporaryDirectory = isShared ? tmp : "/tmp";
    this.output = mkdtempSync(join(parent, "tau-output-"));
    this.closedFile = join(this.root, "closed-file");
    writeFileSync(this.closedFile, "", { mode: 0 });
    this.closedFolder = join(this.root, "closed-folder");
    mkdirSync(this.closedFolder);
    chmodSync(this.closedFolder, 0);
  }

  /** The host's path for a path of the sandbox; undefined if it is in none of these folders. */
  realPath(path: string): string | undefined {
    const mount = this.mounts.find(({ seen }) => isInside(seen, path));
    return mount && mount.real + path.slice(mount.seen.length);
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
    try {
      rmdirSync(this.output);
    } catch {
      // A file was written there, and its path was shown.
    }
  }
}

/** Removes folders of hosts that were killed. */
function removeLeft(parent: string): void {
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(PREFIX)) continue;
    const pid = Number.parseInt(name.slice(PREFIX.length), 10);
    if (Number.isNaN(pid) || isRunning(pid)) continue;
    try {
      rmSync(join(parent, name), { recursive: true, force: true });
    } catch {
      // It belongs to another user.
    }
  }
}

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
 * the path of a socket is limited.
 */
const PREFIX = `tau-sandbox-${hostname().slice(0, 20)}-`;

/** What a session's sandbox has for itself in the host's temporary folder. */
export class PrivateFolders {
  readonly root: string;
  /** A folder of the sandbox and where it is for the host. */
  readonly mounts: readonly { readonly seen: string; readonly real: string }[];
  /** Where the host writes what commands said at length; also read from outside, and by later hosts. */
  readonly output: string;
  /** A file that nobody can read. */
  readonly closedFile: string;
  /** A folder that nobody can enter. */
  readonly closedFolder: string;

  /** Where the sandbox's temporary files are, as it is called inside. */
  readonly temporaryDirectory: string;

  /** @param isShared whether paths inside are those of the host, as with Seatbelt */
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

  /** Where a path of the sandbox is for the host; undefined if it is in none of these folders. */
  realPath(path: string): string | undefined {
    const mount = this.mounts.find(({ seen }) => isInside(seen, path));
    return mount && mount.real + path.slice(mount.seen.length);
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
    try {
      rmdirSync(this.output);
    } catch {
      // Something was written there, and named.
    }
  }
}

/** What hosts left that were killed. */
function removeLeft(parent: string): void {
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(PREFIX)) continue;
    const pid = Number.parseInt(name.slice(PREFIX.length), 10);
    if (Number.isNaN(pid) || isRunning(pid)) continue;
    try {
      rmSync(join(parent, name), { recursive: true, force: true });
    } catch {
      // It belongs to somebody else.
    }
  }
}

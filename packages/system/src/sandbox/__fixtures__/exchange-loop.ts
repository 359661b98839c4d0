import { execFileSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { bubblewrapIsMissing } from "./has-bubblewrap.ts";
import type { SandboxedPlace } from "./sandboxed-place.ts";

/** Why this machine cannot swap a folder and a link atomically while the folder is in use. */
export const exchangeIsMissing = bubblewrapIsMissing ?? pythonIsMissing();

function pythonIsMissing(): string | undefined {
  try {
    execFileSync("python3", ["-c", "import ctypes; ctypes.CDLL(None).renameat2"], { stdio: "ignore" });
    return undefined;
  } catch {
    return "python3 with renameat2 is not installed";
  }
}

const script = `import ctypes, os
libc = ctypes.CDLL(None)
open("loop-runs", "w").close()
while os.path.exists("loop-runs"):
    for _ in range(500):
        # AT_FDCWD, RENAME_EXCHANGE
        libc.renameat2(-100, b"folder", -100, b"link", 2)
`;

/** The number of files in each of the two folders; their names are the same. */
export const loopFiles = 40;

/** Fills `folder` of a project and a folder outside, and puts a link to the latter beside the first. */
export function fillFolders({ project, outside }: SandboxedPlace): void {
  mkdirSync(join(project, "folder"));
  for (let number = 0; number < loopFiles; number++) {
    writeFileSync(join(project, "folder", `file-${number}`), `inside ${number}\n`);
    writeFileSync(join(outside, `file-${number}`), `the-secret ${number}\n`);
  }
  symlinkSync(outside, join(project, "link"));
}

/**
 * Has a sandboxed job swap `folder` and the link as fast as it can. Returns a function that ends the job
 * and puts the folder back.
 */
export async function exchangeInLoop(place: SandboxedPlace): Promise<() => Promise<void>> {
  const [folder, link, mark] = ["folder", "link", "loop-runs"].map((name) =>
    join(place.project, name),
  ) as [string, string, string];
  const job = place.run(`python3 -c '${script}'`, 120_000);
  while (!existsSync(mark)) await sleep(5);
  return async () => {
    rmSync(mark, { force: true });
    await job;
    if (!lstatSync(folder).isSymbolicLink()) return;
    renameSync(folder, `${folder}.link`);
    renameSync(link, folder);
    renameSync(`${folder}.link`, link);
  };
}

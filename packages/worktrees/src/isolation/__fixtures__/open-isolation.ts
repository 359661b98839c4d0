import { createLocalWorkspace, FileQueue, ProcessRegistry } from "@tau-agent/system";
import { Isolation } from "../isolation.ts";

/** The isolation of a host that runs in a separate process. */
export function openIsolation(cwd: string, worktreesRoot: string): Promise<Isolation> {
  const environment = {
    cwd,
    environment: process.env,
    homeDirectory: cwd,
    temporaryDirectory: cwd,
    workspace: createLocalWorkspace({ cwd }),
    fileQueue: new FileQueue(),
    processes: new ProcessRegistry(),
  };
  return Isolation.open({ environment, worktreesRoot, isProjectTrusted: true, maxCopyBytes: 1_000_000 });
}

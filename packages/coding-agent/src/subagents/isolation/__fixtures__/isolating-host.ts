import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { FileQueue } from "../../../tools/file-queue.ts";
import { ProcessRegistry } from "../../../tools/process-registry.ts";
import { Isolation } from "../isolation.ts";

// A host that is in the middle of isolated work until it is killed.
const [cwd = "", worktreesRoot = ""] = process.argv.slice(2);
const isolation = await Isolation.open({
  environment: {
    cwd,
    environment: process.env,
    homeDirectory: cwd,
    temporaryDirectory: cwd,
    fileQueue: new FileQueue(),
    processes: new ProcessRegistry(),
  },
  worktreesRoot,
  maxCopyBytes: 1_000_000,
});
const tree = await isolation.createTree();
writeFileSync(join(tree.cwd, "a.txt"), "half done\n");
process.send?.(tree.cwd);
setInterval(() => undefined, 1000);

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openIsolation } from "./open-isolation.ts";

// A host that is in the middle of isolated work when it is killed.
const [cwd = "", worktreesRoot = ""] = process.argv.slice(2);
const isolation = await openIsolation(cwd, worktreesRoot);
const tree = await isolation.createTree();
writeFileSync(join(tree.cwd, "a.txt"), "half done\n");
process.send?.(tree.cwd);
setInterval(() => undefined, 1000);

import { execFileSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { keepWork } from "../trees/keep-work.ts";
import { mergeChanges } from "../merge-back.ts";
import { openIsolation } from "./open-isolation.ts";

// A host that is killed, alone or together with its git, while git writes the caller's files. A
// filter of one of the files kills it.
const [cwd = "", worktreesRoot = "", victims = ""] = process.argv.slice(2);
const isolation = await openIsolation(cwd, worktreesRoot);
const tree = await isolation.createTree();
for (const name of ["a.txt", "m.deadly", "z.txt", "new/n.txt"]) {
  execFileSync("mkdir", ["-p", join(tree.cwd, "new")]);
  writeFileSync(join(tree.cwd, name), "task\n");
}
rmSync(join(tree.cwd, "b.txt"));
const captured = await tree.capture();
const kept = await keepWork(isolation, captured, join(isolation.folder.path, "t.patch"));
const git = victims === "alone" ? "" : "$PPID";
const filter = `kill -9 ${process.pid} ${git}; cat`;
const config = join(isolation.repository.location.gitDir, "config");
execFileSync("git", ["config", "--file", config, "filter.deadly.smudge", filter]);
await mergeChanges(isolation, [{ id: "t", tree: captured.tree, parts: kept.parts }]);

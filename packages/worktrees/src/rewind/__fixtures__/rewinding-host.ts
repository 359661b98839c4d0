import { createLocalWorkspace, FileQueue, ProcessRegistry } from "@tau-agent/system";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

// A host that is killed before its nth change to a file, wherever that happens.
const [folder = "", directory = "", count = "0", kind = ""] = process.argv.slice(2);
let left = Number(count);
const names = ["renameSync", "unlinkSync", "rmdirSync", "mkdirSync", "writeFileSync", "appendFileSync"];
const target = fs as unknown as Record<string, (...given: unknown[]) => unknown>;
const isArmed = { value: false };
for (const name of names) {
  const original = target[name];
  if (original === undefined) continue;
  target[name] = (...given) => {
    if (isArmed.value && --left < 0) process.kill(process.pid, "SIGKILL");
    return original(...given);
  };
}
syncBuiltinESMExports();
const { RewindEngine } = await import("../rewind-engine.ts");
const engine = await RewindEngine.open({
  environment: {
    cwd: folder,
    environment: { PATH: process.env.PATH, HOME: directory },
    homeDirectory: directory,
    temporaryDirectory: directory,
    workspace: createLocalWorkspace({ cwd: folder }),
    fileQueue: new FileQueue(),
    processes: new ProcessRegistry(),
  },
  ...{ folder, directory, ownFolders: [], sessionId: "s1", keep: 100 },
  limits: { maxFileBytes: 1e8, maxTotalBytes: 1e9 },
});
isArmed.value = true;
if (kind === "begin") {
  await engine.begin("m9");
  fs.writeFileSync(`${folder}/late`, "late\n");
  await engine.end();
} else {
  await engine.takeBack({
    ...{ entryId: "m0", isSince: () => true, position: 0, length: 9, leafId: null, dryRun: false },
  });
}
isArmed.value = false;
process.exit(7);

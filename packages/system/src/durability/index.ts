export { durablePath } from "./durable-folder.ts";
export { createMark, limitOf } from "./keeper/command-folder.ts";
export { createJobWriter } from "./keeper/job-writer.ts";
export { createMask } from "./keeper/keep-commands.ts";
export { KeeperError, KeeperProcess } from "./keeper/keeper-process.ts";

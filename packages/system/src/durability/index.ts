export { durablePath } from "./durable-folder.ts";
export { EpochGuard } from "./epoch-guard.ts";

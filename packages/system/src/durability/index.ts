export { durablePath } from "./durable-folder.ts";

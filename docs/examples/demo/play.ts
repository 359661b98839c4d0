/**
 * `npx -y pnpm@12 demo`: builds quietly, then plays the demo in this process, with the options of
 * demo.ts.
 */
import { quietly } from "./quietly.ts";

await quietly("Building Tau", "pnpm exec turbo run build --filter=@tau-agent/cli...");
// Only now is there something to import.
await import("./demo.ts");

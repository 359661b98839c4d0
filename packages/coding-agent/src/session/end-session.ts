import type { SessionParts } from "./build-session.ts";

/** Ends everything that runs, and closes the file or leaves the store. */
export async function endSession({ work, conversation, inputs }: SessionParts): Promise<void> {
  inputs.jobs.close();
  await inputs.hooks?.end();
  await work.end();
  await inputs.telemetry?.close();
  await inputs.mcp.end();
  await conversation.log.close();
  await inputs.closeStore?.();
  inputs.toolEnvironment.processes.killAll();
  await inputs.sandboxed.sandbox?.close();
}

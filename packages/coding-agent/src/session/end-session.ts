import type { SessionParts } from "./build-session.ts";

/** Ends everything that runs, and closes the file or leaves the store. */
export async function endSession(parts: SessionParts): Promise<void> {
  const { work, conversation, inputs, models } = parts;
  inputs.jobs.close();
  await inputs.hooks?.end();
  await work.end();
  // The vendor has given up the old tokens.
  await models.registry.keys.store.settled();
  await inputs.telemetry?.close();
  await inputs.mcp.end();
  await conversation.log.close();
  await inputs.closeStore?.();
  inputs.toolEnvironment.processes.killAll();
  await inputs.sandboxed.sandbox?.close();
}

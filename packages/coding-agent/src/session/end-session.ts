import { within } from "@tau-agent/system";
import type { SessionParts } from "./session-parts.ts";

/** The longest that an end waits for a login that is being renewed. */
const RENEWAL_MS = 3_000;

/** Ends everything that runs, and closes the file or leaves the store. */
export async function endSession(parts: SessionParts): Promise<void> {
  const { work, conversation, inputs, models } = parts;
  const jobs = inputs.jobs.close();
  await inputs.hooks?.end();
  // Those in the background end while what they were can still be written.
  await inputs.subagents.close();
  await work.end();
  parts.warming.close();
  await inputs.telemetry?.close();
  await inputs.mcp.end();
  await inputs.survival?.close();
  await inputs.toolEnvironment.fileDiagnosis?.close();
  await jobs;
  await conversation.log.close();
  await inputs.closeStore?.();
  await inputs.closeWorkspace?.();
  inputs.toolEnvironment.processes.killAll();
  await inputs.sandboxed.sandbox?.close();
  // The vendor has given up the old tokens; but it may never send new ones.
  await within(RENEWAL_MS, models.registry.keys.store.settled());
}

import { within } from "@tau-agent/system";
import type { SessionParts } from "./session-parts.ts";

/** The longest wait at the end for a login that is being renewed. */
const RENEWAL_MS = 3_000;

/** Ends everything that runs, and closes the file or leaves the store. */
export async function endSession(parts: SessionParts): Promise<void> {
  const { work, conversation, inputs, models } = parts;
  const jobs = inputs.jobs.close();
  await inputs.hooks?.end();
  // Background subagents end while their results can still be written.
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
  // The vendor has already invalidated the old tokens, so the new ones are awaited; but they may never come.
  await within(RENEWAL_MS, models.registry.keys.store.settled());
}

import { randomHex } from "@tau-agent/system";
import { startInBackground } from "../tasks/background-tasks.ts";
import type { SubagentRecord } from "../tasks/subagent-record.ts";
import type { TaskServices } from "../tasks/task-services.ts";
import { readOrder } from "./read-order.ts";

/** Continues an ended subagent for a client: its end is an event, and the model is not told. */
export async function resumeInBackground(
  { id }: SubagentRecord,
  message: string,
  services: TaskServices,
): Promise<void> {
  const toolCallId = `resumed-${randomHex(4)}`;
  const order = await readOrder({ resume: id, task: message }, services, toolCallId);
  startInBackground(order, services, { toolCallId });
}

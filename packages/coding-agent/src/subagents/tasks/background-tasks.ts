import { errorMessage } from "@tau-agent/rpc-protocol/plain";
import type { OfferedTools } from "../../jobs/session-jobs.ts";
import { runTasks } from "./run-tasks.ts";
import type { TaskOrder } from "./task-order.ts";
import type { TaskServices } from "./task-services.ts";

/** Starts tasks that nobody waits for: an abort of the run does not end them, the end of the host does. */
export function startInBackground(
  order: TaskOrder,
  services: TaskServices,
  call: { readonly toolCallId: string; readonly notifies?: boolean | undefined },
): OfferedTools {
  const { signal } = new AbortController();
  const options = { ...call, services, signal, background: true, onProgress: () => {} };
  // Each end is kept and told by itself; what keeps all from starting is their end, too.
  runTasks(order, options).catch((error: unknown) => {
    void services.session().report({ type: "error", error: errorMessage(error) });
  });
  return services.session().offerTools();
}

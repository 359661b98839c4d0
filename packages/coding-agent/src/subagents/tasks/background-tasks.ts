import { errorMessage } from "@tau-agent/rpc-protocol/plain";
import type { OfferedTools } from "../../jobs/session-jobs.ts";
import { runTasks } from "./run-tasks.ts";
import type { TaskOrder } from "./task-order.ts";
import type { TaskServices } from "./task-services.ts";

/** Starts background tasks: an abort of the run does not end them, but the end of the host does. */
export function startInBackground(
  order: TaskOrder,
  services: TaskServices,
  call: { readonly toolCallId: string; readonly notifies?: boolean | undefined },
): OfferedTools {
  const { signal } = new AbortController();
  const options = { ...call, services, signal, background: true, onProgress: () => {} };
  // The end of each task is recorded and reported separately; an error that prevents all from
  // starting ends each of them.
  runTasks(order, options).catch((error: unknown) => {
    void services.session().report({ type: "error", error: errorMessage(error) });
  });
  return services.session().offerTools();
}

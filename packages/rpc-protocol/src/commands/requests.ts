import * as z from "zod/mini";
import { PendingRequest } from "../vocabulary/host-request.ts";
import { command } from "./command.ts";

/** Requests of the host to its client. */
export const requestCommands = {
  get_pending_requests: command({
    summary: "Lists the open host requests, oldest first.",
    result: () =>
      z.object({
        /** The requests, each as in its `host_request`. */
        requests: z.array(PendingRequest),
      }),
    answersAtOnce: true,
  }),
};

import * as z from "zod/mini";
import { command } from "../command.ts";
import { nothing } from "./shared.ts";
import { QueueMode } from "./state.ts";

const mode = () => z.object({ mode: QueueMode });

/** How queued messages are delivered. */
export const queueCommands = {
  set_steering_mode: command({
    summary: "Sets whether steering messages are delivered one at a time or all at once.",
    params: mode,
    result: nothing,
    data: "none",
    positional: ["mode"],
  }),
  set_follow_up_mode: command({
    summary: "Sets whether follow-up messages are delivered one at a time or all at once.",
    params: mode,
    result: nothing,
    data: "none",
    positional: ["mode"],
  }),
};

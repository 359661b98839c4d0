// Delays every session change, and names each session that begins.
import { setTimeout as wait } from "node:timers/promises";
import type { ExtensionApi } from "@tau-agent/coding-agent";

export default function slowChange(pi: ExtensionApi): void {
  pi.on("session_before_switch", async () => {
    await wait(30);
  });
  pi.on("session_before_fork", async (_event, { ui }) => {
    const isWanted = await ui.confirm("Fork?", "The old session stays as it is.");
    return { cancel: !isWanted };
  });
  pi.on("session_shutdown", () => wait(20));
  pi.on("session_start", async ({ reason }) => {
    await wait(20);
    pi.appendEntry("begun", { reason });
  });
}

// Cancels every session change.
import type { ExtensionApi } from "@tau-agent/coding-agent";

export default function veto(pi: ExtensionApi): void {
  pi.on("session_before_switch", () => ({ cancel: true }));
  pi.on("session_before_fork", () => ({ cancel: true }));
}

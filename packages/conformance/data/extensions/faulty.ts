// Fails at the end of each turn.
import type { ExtensionApi } from "@tau-agent/coding-agent";

export default function faulty(pi: ExtensionApi): void {
  pi.on("turn_end", () => {
    throw new TypeError("Error message...");
  });
}

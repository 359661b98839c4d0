// Decides about projects without a decision. Only the user's own extensions are asked.
import type { ExtensionApi } from "@tau-agent/coding-agent";

export default function trust(pi: ExtensionApi): void {
  pi.on("project_trust", ({ cwd }) => {
    const isMine = cwd.endsWith("project");
    return isMine ? { trusted: "yes" } : undefined;
  });
}

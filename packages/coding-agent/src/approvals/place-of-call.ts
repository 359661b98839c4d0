import type { ApprovalParams } from "@tau-agent/rpc-protocol";
import type { ToolEnvironment } from "@tau-agent/system";

/** Where a call works, as the question about it says. */
export function placeOfCall({
  cwd,
  workspace: { id },
}: Pick<ToolEnvironment, "cwd" | "workspace">): Pick<ApprovalParams, "cwd" | "workspace"> {
  return { cwd, ...(id !== "local" && { workspace: id }) };
}

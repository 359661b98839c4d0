import type { ApprovalParams } from "@tau-agent/rpc-protocol";
import type { ToolEnvironment } from "@tau-agent/system";

/** The place where a call runs, for the question about it. */
export function placeOfCall({
  cwd,
  workspace: { id },
}: Pick<ToolEnvironment, "cwd" | "workspace">): Pick<ApprovalParams, "cwd" | "workspace"> {
  return { cwd, ...(id !== "local" && { workspace: id }) };
}

import type { WorkspaceCheckLimits } from "../run-workspace-conformance.ts";

/** For workspaces whose calls start processes, while other tests run at the same time. */
export const patientLimits: WorkspaceCheckLimits = {
  callMs: 20_000,
  checkMs: 60_000,
  totalMs: 180_000,
};

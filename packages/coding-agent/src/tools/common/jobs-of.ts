import { ToolError } from "@tau-agent/agent";
import type { SessionJobs } from "../../jobs/session-jobs.ts";
import type { BuiltinEnvironment } from "./tool-row.ts";

/** What a tool needs for jobs. */
export type JobEnvironment = Pick<BuiltinEnvironment, "jobs" | "kept">;

/** The session's background jobs; an extension's own bash tool has none. */
export function jobsOf({ jobs }: JobEnvironment): SessionJobs {
  if (jobs === undefined) throw new ToolError("There are no background jobs without a session.");
  return jobs;
}

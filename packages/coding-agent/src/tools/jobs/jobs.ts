import { ToolError } from "@tau-agent/agent";
import type { JobInfo } from "@tau-agent/rpc-protocol";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import { type JobEnvironment, jobsOf } from "../common/jobs-of.ts";

/** Returns the output of a job from an offset on, and where it ends. */
export async function runJobOutputTool(
  { jobId, offset }: { readonly jobId: string; readonly offset?: number | undefined },
  environment: JobEnvironment,
): Promise<ToolResult> {
  if (offset !== undefined && !(offset >= 0)) {
    throw new ToolError(`Invalid offset ${offset}: give a nextOffset of before, or leave it out.`);
  }
  const piece = await jobsOf(environment).output(jobId, offset);
  const { status, output, nextOffset, truncated } = piece;
  const missing = truncated ? ["[Earlier output is not shown.]"] : [];
  const state = `[${jobId}: ${status}; nextOffset ${nextOffset}]`;
  const shown = output === "" ? "(no output)" : output.replace(/\n$/, "");
  const text = [...missing, shown, "", state].join("\n");
  return { content: [{ type: "text", text }], details: piece };
}

/** Kills a job; a job that has already ended keeps its end. */
export async function runJobKillTool(
  { jobId }: { readonly jobId: string },
  environment: JobEnvironment,
): Promise<ToolResult> {
  const job = await jobsOf(environment).kill(jobId);
  return { content: [{ type: "text", text: lineOf(job) }], details: job };
}

export async function runListJobsTool(
  _: Record<string, never>,
  environment: JobEnvironment,
): Promise<ToolResult> {
  const jobs = await jobsOf(environment).list();
  const text = jobs.length === 0 ? "There are no jobs." : jobs.map(lineOf).join("\n");
  return { content: [{ type: "text", text }], details: { jobs } };
}

function lineOf({ jobId, status, exitCode, durationMs, command }: JobInfo): string {
  const code = exitCode === undefined ? "" : ` with code ${exitCode}`;
  const time = durationMs === undefined ? "" : ` after ${(durationMs / 1000).toFixed(1)} s`;
  return `${jobId}: ${status}${code}${time}: ${command}`;
}

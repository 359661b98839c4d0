import * as z from "zod/mini";
import { JobInfo, JobOutput } from "../vocabulary/job.ts";
import { command } from "./command.ts";

const jobId = () => z.string();

/** Commands that the model runs in the background. */
export const jobCommands = {
  job_output: command({
    summary:
      "Returns the output of a background job from an offset on; of more than 50 KB, the end.",
    params: () =>
      z.object({
        /** The id of the job. */
        jobId: jobId(),
        /** The start of the output, in bytes since the start of the job; 0 by default. */
        offset: z.optional(z.number().check(z.nonnegative())),
      }),
    result: () => JobOutput,
    positional: ["jobId", "offset"],
    awaitsSessionChange: true,
  }),
  job_kill: command({
    summary: "Kills a background job with all processes it started; answered once it has ended.",
    params: () =>
      z.object({
        /** The id of the job. */
        jobId: jobId(),
      }),
    positional: ["jobId"],
    awaitsSessionChange: true,
  }),
  list_jobs: command({
    summary: "Lists the background jobs of the session, oldest first.",
    result: () =>
      z.object({
        /** The jobs. */
        jobs: z.array(JobInfo),
      }),
    awaitsSessionChange: true,
  }),
};

import * as z from "zod/mini";

/** The state of a background job; `lost` if its host ended first. */
export const JobStatus = z.enum(["running", "exited", "killed", "timeout", "lost"]);
export type JobStatus = z.infer<typeof JobStatus>;

/** A background job. */
export const JobInfo = z.object({
  /** The id of the job. */
  jobId: z.string(),
  /** The shell command. */
  command: z.string(),
  /** The state. */
  status: JobStatus,
  /** When it started, in ms since the epoch. */
  startedAt: z.number(),
  /** The exit code; absent while it runs, and if it was killed. */
  exitCode: z.optional(z.number()),
  /** How long it ran, in ms; absent while it runs, and if it is lost. */
  durationMs: z.optional(z.number()),
});
export type JobInfo = z.infer<typeof JobInfo>;

/** A piece of the output of a background job. */
export const JobOutput = z.object({
  /** The id of the job. */
  jobId: z.string(),
  /** The state of the job. */
  status: JobStatus,
  /** stdout and stderr combined, from the offset on; at most the last 50 KB. */
  output: z.string(),
  /** The offset to continue from, in bytes since the start of the job. */
  nextOffset: z.number(),
  /** Whether output between the offset and this piece is missing. */
  truncated: z.boolean(),
});
export type JobOutput = z.infer<typeof JobOutput>;

/** Events about background jobs. */
export const jobEvents = [
  /** A background job has ended; sent once. */
  z.object({
    type: z.literal("job_end"),
    /** The id of the job. */
    jobId: z.string(),
    /** The shell command. */
    command: z.string(),
    /** How it ended. */
    status: JobStatus,
    /** The exit code; null if it was killed. */
    exitCode: z.nullable(z.number()),
    /** How long it ran, in ms. */
    durationMs: z.number(),
    /** The end of its output. */
    tail: z.string(),
  }),
] as const;

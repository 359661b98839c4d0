import { toolRow } from "../common/tool-row.ts";

/** The names of the tools for background jobs, which are declared from the first job on: few sessions have one. */
export const jobToolNames: ReadonlySet<string> = new Set(["job_output", "job_kill", "list_jobs"]);

const jobId = { type: "string" } as const;

export const jobOutputTool = toolRow({
  name: "job_output",
  description: "Read the output of a background job; at most the last 50KB.",
  properties: {
    jobId,
    offset: { type: "number", description: "Skip what was read: the last nextOffset" },
  },
  required: ["jobId"],
  isReadOnly: true,
  load: async () => (await import("./jobs.ts")).runJobOutputTool,
});

export const jobKillTool = toolRow({
  name: "job_kill",
  description: "Kill a background job.",
  properties: { jobId },
  required: ["jobId"],
  load: async () => (await import("./jobs.ts")).runJobKillTool,
});

export const listJobsTool = toolRow({
  name: "list_jobs",
  description: "List background jobs.",
  properties: {},
  required: [],
  isReadOnly: true,
  load: async () => (await import("./jobs.ts")).runListJobsTool,
});

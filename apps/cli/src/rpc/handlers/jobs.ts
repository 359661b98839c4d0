import type { jobCommands } from "@tau-agent/rpc-protocol/commands";
import type { HostHandlers } from "./contexts.ts";

export const jobHandlers = {
  job_output: ({ session }, { jobId, offset }) => session.jobs.output(jobId, offset),
  job_kill: async ({ session }, { jobId }) => {
    await session.jobs.kill(jobId);
  },
  list_jobs: async ({ session }) => ({ jobs: await session.jobs.list() }),
} satisfies Pick<HostHandlers, keyof typeof jobCommands>;

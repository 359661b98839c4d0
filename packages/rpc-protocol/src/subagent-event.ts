import * as z from "zod/mini";

const VerificationCommandResult = z.object({
  name: z.string(),
  command: z.string(),
  /** The command's own; 124 when it ran out of time, 127 when it could not start. */
  exitCode: z.number(),
  durationMs: z.number(),
  optional: z.optional(z.boolean()),
  timedOut: z.optional(z.boolean()),
  artifactPath: z.optional(z.string()),
  outputPreview: z.optional(z.string()),
});
/** How one command of a verification ended. */
export type VerificationCommandResult = z.infer<typeof VerificationCommandResult>;

const VerificationAttemptResult = z.object({
  attempt: z.number(),
  status: z.enum(["passed", "failed", "skipped"]),
  startedAt: z.number(),
  endedAt: z.number(),
  commandResults: z.array(VerificationCommandResult),
  error: z.optional(z.string()),
});
/** One pass through the commands of a verification; times in ms since the epoch. */
export type VerificationAttemptResult = z.infer<typeof VerificationAttemptResult>;

/** What came of verifying a subagent's work. */
export const VerificationResult = z.object({
  requested: z.boolean(),
  profile: z.optional(z.string()),
  mode: z.optional(z.enum(["none", "command"])),
  status: z.enum(["not_requested", "passed", "failed", "skipped"]),
  attempts: z.array(VerificationAttemptResult),
  retriesUsed: z.number(),
  onFailure: z.optional(z.enum(["return_failure", "retry_once", "discard_patch"])),
});
export type VerificationResult = z.infer<typeof VerificationResult>;

const attempt = { id: z.string(), attempt: z.number() };

/** The life of a subagent; `id` stays the same across retries. */
export const subagentEvents = [
  z.object({
    type: z.literal("subagent_start"),
    id: z.string(),
    agent: z.string(),
    isolated: z.boolean(),
  }),
  z.object({
    type: z.literal("subagent_end"),
    id: z.string(),
    agent: z.string(),
    exitCode: z.number(),
    verification: z.optional(VerificationResult),
  }),
  z.object({
    type: z.literal("subagent_verification_start"),
    ...attempt,
    profile: z.optional(z.string()),
  }),
  z.object({
    type: z.literal("subagent_verification_command_start"),
    ...attempt,
    commandName: z.string(),
  }),
  z.object({
    type: z.literal("subagent_verification_command_end"),
    ...attempt,
    commandName: z.string(),
    exitCode: z.number(),
    durationMs: z.number(),
    artifactId: z.optional(z.string()),
  }),
  z.object({
    type: z.literal("subagent_verification_end"),
    ...attempt,
    status: z.enum(["passed", "failed", "skipped", "budget_exceeded"]),
  }),
] as const;

import * as z from "zod/mini";

const VerificationCommandResult = z.object({
  /** The name of the command in the settings. */
  name: z.string(),
  /** The shell command. */
  command: z.string(),
  /** The exit code; 124 after a timeout, 127 if the command could not start. */
  exitCode: z.number(),
  /** Duration in ms. */
  durationMs: z.number(),
  /** Whether the verification passes even if this command fails. */
  optional: z.optional(z.boolean()),
  /** Whether it was stopped by its timeout. */
  timedOut: z.optional(z.boolean()),
  /** The file with the complete output. */
  artifactPath: z.optional(z.string()),
  /** The end of its output. */
  outputPreview: z.optional(z.string()),
});
/** How one command of a verification ended. */
export type VerificationCommandResult = z.infer<typeof VerificationCommandResult>;

const VerificationAttemptResult = z.object({
  /** The number of the attempt, starting at 1. */
  attempt: z.number(),
  /** The status. */
  status: z.enum(["passed", "failed", "skipped"]),
  /** When the attempt began, in ms since the epoch. */
  startedAt: z.number(),
  /** When the attempt ended, in ms since the epoch. */
  endedAt: z.number(),
  /** The result of each command. */
  commandResults: z.array(VerificationCommandResult),
  /** The error message. */
  error: z.optional(z.string()),
});
/** One pass through the commands of a verification; times in ms since the epoch. */
export type VerificationAttemptResult = z.infer<typeof VerificationAttemptResult>;

/** The result of verifying a subagent's work. */
export const VerificationResult = z.object({
  /** Whether verification was requested. */
  requested: z.boolean(),
  /** The name of the verification profile in the settings. */
  profile: z.optional(z.string()),
  /** How the work is verified. */
  mode: z.optional(z.enum(["none", "command"])),
  /** The status. */
  status: z.enum(["not_requested", "passed", "failed", "skipped"]),
  /** All attempts, in order. */
  attempts: z.array(VerificationAttemptResult),
  /** How often the subagent was asked to fix its work. */
  retriesUsed: z.number(),
  /** What happens if verification fails. */
  onFailure: z.optional(z.enum(["return_failure", "retry_once", "discard_patch"])),
});
export type VerificationResult = z.infer<typeof VerificationResult>;

const attempt = {
  /** The id of the subagent; the same across retries. */
  id: z.string(),
  /** The number of the attempt, starting at 1. */
  attempt: z.number(),
};

/** The events of subagents that a client may subscribe to; the last three are aliases of the first. */
export const SubagentLevel = z.enum(["none", "activity", "all", "off", "progress", "events"]);
export type SubagentLevel = z.infer<typeof SubagentLevel>;

/** The life of a subagent; `id` stays the same across retries. */
export const subagentEvents = [
  /** A subagent starts. */
  z.object({
    type: z.literal("subagent_start"),
    /** The id of the subagent; the same across retries. */
    id: z.string(),
    /** The name of the agent definition it runs. */
    agent: z.string(),
    /** Whether it works in its own copy of the project. */
    isolated: z.boolean(),
  }),
  /** A subagent has finished, including its verification. */
  z.object({
    type: z.literal("subagent_end"),
    /** The id of the subagent; the same across retries. */
    id: z.string(),
    /** The name of the agent definition it runs. */
    agent: z.string(),
    /** 0 on success. */
    exitCode: z.number(),
    /** The result of the verification. */
    verification: z.optional(VerificationResult),
  }),
  /** An attempt to verify a subagent's work begins. */
  z.object({
    type: z.literal("subagent_verification_start"),
    ...attempt,
    /** The name of the verification profile in the settings. */
    profile: z.optional(z.string()),
  }),
  /** A verification command starts. */
  z.object({
    type: z.literal("subagent_verification_command_start"),
    ...attempt,
    /** The name of the verification command. */
    commandName: z.string(),
  }),
  /** A verification command has finished. */
  z.object({
    type: z.literal("subagent_verification_command_end"),
    ...attempt,
    /** The name of the verification command. */
    commandName: z.string(),
    /** The exit code; absent if the process was killed by a signal. */
    exitCode: z.number(),
    /** Duration in ms. */
    durationMs: z.number(),
    /** The file with the complete output. */
    artifactId: z.optional(z.string()),
  }),
  /** An attempt to verify a subagent's work has ended. */
  z.object({
    type: z.literal("subagent_verification_end"),
    ...attempt,
    /** The status. */
    status: z.enum(["passed", "failed", "skipped", "budget_exceeded"]),
  }),
  /** An event of a subagent's own session, as requested with `set_subagent_subscription`. */
  z.object({
    type: z.literal("subagent_event"),
    /** The id of the subagent, as in `subagent_start`. */
    id: z.string(),
    /** The event; a `message_update` has the form `delta`. */
    event: z.looseObject({
      /** The type of the event. */
      type: z.string(),
    }),
  }),
] as const;

import * as z from "zod/mini";

/** A call of a workspace that the client serves, as of an exec server. */
export const WorkspaceCallFrame = z.object({
  type: z.literal("workspace_call"),
  /** Comes back in the result and the output. */
  id: z.string(),
  /** The workspace that is meant. */
  workspaceId: z.string(),
  /** A method of the exec server. */
  method: z.string(),
  /** Its parameters. */
  params: z.record(z.string(), z.unknown()),
});
export type WorkspaceCallFrame = z.infer<typeof WorkspaceCallFrame>;

/** Ends a call of a workspace early; of a command that runs, the whole tree. */
export const WorkspaceCancelFrame = z.object({
  type: z.literal("workspace_cancel"),
  /** The id of this frame. */
  id: z.string(),
  /** The id of the call. */
  targetId: z.string(),
});
export type WorkspaceCancelFrame = z.infer<typeof WorkspaceCancelFrame>;

/** The answer to a call of a workspace: `result` or `error`. */
export const WorkspaceResultFrame = z.object({
  type: z.literal("workspace_result"),
  /** The id of the call. */
  id: z.string(),
  /** By method, as in `ExecServerResults`. */
  result: z.optional(z.unknown()),
  /** Why it failed. */
  error: z.optional(
    z.object({
      /** What went wrong, as in `ExecServerFailure`. */
      code: z.string(),
      /** The same in words. */
      message: z.string(),
      /** The path that it is about. */
      path: z.optional(z.string()),
    }),
  ),
});
export type WorkspaceResultFrame = z.infer<typeof WorkspaceResultFrame>;

/** Output of a command in a workspace of the client, or its end. */
export const WorkspaceOutputFrame = z.object({
  type: z.literal("workspace_output"),
  /** The id of the `spawn` call. */
  id: z.string(),
  /** Whether this is output, or the end of the command. */
  event: z.enum(["output", "exit"]),
  /** Where the output came from. */
  stream: z.optional(z.enum(["stdout", "stderr"])),
  /** The output in base64. */
  data: z.optional(z.string()),
  /** How the command ended; null when a signal ended it. */
  exitCode: z.optional(z.nullable(z.number())),
  /** The signal that ended it. */
  signal: z.optional(z.string()),
  /** Whether its time limit was over. */
  timedOut: z.optional(z.boolean()),
});
export type WorkspaceOutputFrame = z.infer<typeof WorkspaceOutputFrame>;

import * as z from "zod/mini";

/** A call to a workspace that the client serves, in the form of an exec server's requests. */
export const WorkspaceCallFrame = z.object({
  type: z.literal("workspace_call"),
  /** Repeated in the result and the output. */
  id: z.string(),
  /** The id of the workspace. */
  workspaceId: z.string(),
  /** A method of the exec server. */
  method: z.string(),
  /** Its parameters. */
  params: z.record(z.string(), z.unknown()),
});
export type WorkspaceCallFrame = z.infer<typeof WorkspaceCallFrame>;

/** Cancels a call to a workspace; a running command is ended with all its children. */
export const WorkspaceCancelFrame = z.object({
  type: z.literal("workspace_cancel"),
  /** The id of this frame. */
  id: z.string(),
  /** The id of the call. */
  targetId: z.string(),
});
export type WorkspaceCancelFrame = z.infer<typeof WorkspaceCancelFrame>;

/** The answer to a workspace call: `result` or `error`. */
export const WorkspaceResultFrame = z.object({
  type: z.literal("workspace_result"),
  /** The id of the call. */
  id: z.string(),
  /** By method, as in `ExecServerResults`. */
  result: z.optional(z.unknown()),
  /** Why it failed. */
  error: z.optional(
    z.object({
      /** The error code, as in `ExecServerFailure`. */
      code: z.string(),
      /** The error message. */
      message: z.string(),
      /** The affected path. */
      path: z.optional(z.string()),
    }),
  ),
});
export type WorkspaceResultFrame = z.infer<typeof WorkspaceResultFrame>;

/** Output of a command in a client's workspace, or its end. */
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
  /** The exit code; null if a signal ended it. */
  exitCode: z.optional(z.nullable(z.number())),
  /** The signal that ended it. */
  signal: z.optional(z.string()),
  /** Whether it exceeded its time limit. */
  timedOut: z.optional(z.boolean()),
});
export type WorkspaceOutputFrame = z.infer<typeof WorkspaceOutputFrame>;

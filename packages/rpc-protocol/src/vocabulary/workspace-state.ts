import * as z from "zod/mini";

const place = {
  /** The initial working directory: absolute, in the notation of the workspace's platform. */
  cwd: z.string(),
};

/** A workspace that a program serves. */
export const CommandWorkspace = z.strictObject({
  /** A program and its arguments that speaks the protocol of `tau exec-server` on stdin and stdout. */
  command: z.array(z.string()),
  ...place,
});

/** A workspace behind a shell. */
export const ShellWorkspace = z.strictObject({
  /** A program and its arguments, to which one argument is appended: a command line for the shell there. */
  shell: z.array(z.string()),
  ...place,
});

/** A workspace that the connected client serves. */
export const ClientWorkspace = z.strictObject({
  /** The client serves it. */
  client: z.literal(true),
  ...place,
});

/** How a workspace is reached; exactly one of the three. */
export const WorkspaceSpec = z.union([CommandWorkspace, ShellWorkspace, ClientWorkspace]);
export type WorkspaceSpec = z.infer<typeof WorkspaceSpec>;

/** A name from the user's settings, or how to reach a workspace. */
export const WorkspaceChoice = z.union([z.string(), WorkspaceSpec]);
export type WorkspaceChoice = z.infer<typeof WorkspaceChoice>;

/** Whether a workspace can be reached now. */
export const WorkspaceStatus = z.enum(["connected", "lost"]);
export type WorkspaceStatus = z.infer<typeof WorkspaceStatus>;

/** Where the tools of a session act. */
export const WorkspaceState = z.object({
  /** Identifies the workspace across sessions; `local` is the host's own machine. */
  id: z.string(),
  /** The host's own machine, a program, a shell, the client, or an object of the library. */
  kind: z.enum(["local", "command", "shell", "client", "object"]),
  /** The folder of the session there. */
  cwd: z.string(),
  /** Whether it can be reached. */
  status: WorkspaceStatus,
});
export type WorkspaceState = z.infer<typeof WorkspaceState>;

/** Events about the workspace in which the tools act. */
export const workspaceEvents = [
  /** The workspace can no longer be reached, or can again. */
  z.object({
    type: z.literal("workspace_status"),
    /** The id of the workspace. */
    id: z.string(),
    /** Whether it can be reached. */
    status: WorkspaceStatus,
    /** Why it cannot be reached. */
    reason: z.optional(z.string()),
  }),
] as const;

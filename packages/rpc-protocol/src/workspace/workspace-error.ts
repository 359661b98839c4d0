/** Every code of a {@link WorkspaceError}, and its text if the workspace supplies none. */
export const workspaceErrorTexts = {
  not_found: "No such file or folder",
  exists: "There is something at this path already",
  not_a_directory: "Not a folder",
  is_a_directory: "A folder, not a file",
  not_empty: "The folder is not empty",
  not_allowed: "This path may not be opened here",
  too_large: "Larger than 2 GiB",
  no_space: "No space is left",
  lost: "The connection to the workspace is lost",
  stale_epoch: "Another host has taken over the session",
  sandbox_unavailable: "The sandbox of this call is not open",
  unsupported: "The workspace cannot do this",
  aborted: "Aborted",
  failed: "The operation failed",
} as const satisfies Record<string, string>;

export type WorkspaceErrorCode = keyof typeof workspaceErrorTexts;

/** The error with which every method of a {@link Workspace} rejects. */
export class WorkspaceError extends Error {
  override readonly name = "WorkspaceError";
  readonly code: WorkspaceErrorCode;
  /** The affected path; for `not_allowed`, the path that would really have been opened. */
  readonly path: string | undefined;

  constructor(
    code: WorkspaceErrorCode,
    message: string = workspaceErrorTexts[code],
    { path, ...options }: ErrorOptions & { readonly path?: string | undefined } = {},
  ) {
    super(message, options);
    this.code = code;
    this.path = path;
  }
}

/** Whether an error is a {@link WorkspaceError} with one of these codes. */
export function isWorkspaceError(
  error: unknown,
  ...codes: readonly WorkspaceErrorCode[]
): error is WorkspaceError {
  return error instanceof WorkspaceError && (codes.length === 0 || codes.includes(error.code));
}

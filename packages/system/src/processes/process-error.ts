export type ProcessErrorCode =
  | "cwd_missing"
  | "not_found"
  | "not_executable"
  | "command_too_long"
  | "spawn_failed"
  | "sandbox_unavailable";

/** A process could not be started; the message names the path and what to do. */
export class ProcessError extends Error {
  override readonly name = "ProcessError";
  readonly code: ProcessErrorCode;

  constructor(code: ProcessErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** A sandbox could not be set up, so its command never ran; the message says why. */
export class SandboxStartError extends Error {
  override readonly name = "SandboxStartError";
}

import { ToolError } from "@tau-agent/agent";

/** Why a call failed in the sandbox. Clients may match these values. */
export type SandboxReason = "sandbox_refused" | "sandbox_unavailable";

/** A call that failed because of the sandbox and might succeed outside. */
export class SandboxRefusal extends ToolError {
  readonly reason: SandboxReason;

  constructor(
    reason: SandboxReason,
    message: string,
    details?: ConstructorParameters<typeof ToolError>[1],
    options?: ErrorOptions,
  ) {
    super(message, details, options);
    this.reason = reason;
  }
}

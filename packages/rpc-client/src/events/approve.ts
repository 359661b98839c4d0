import type { ApprovalParams, ApprovalResult } from "@tau-agent/rpc-protocol";
import type { AskedRequest } from "./asked-request.ts";

/** An approval as a function gets it. */
export interface ApprovalRequest extends ApprovalParams, AskedRequest {}

/**
 * Decides whether a tool may run. What it throws, and anything but a result, denies. The signal is
 * aborted when the question has ended in another way; its reason is the host's `host_request_resolved`.
 */
export type Approve = (
  request: ApprovalRequest,
  context: { readonly signal: AbortSignal },
) => ApprovalResult | Promise<ApprovalResult>;

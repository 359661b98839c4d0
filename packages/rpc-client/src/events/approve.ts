import type {
  ApprovalParams,
  ApprovalResult,
  HostRequestFrame,
  HostRequestResolved,
  HostResponse,
} from "@tau-agent/rpc-protocol";

/** An approval as a function gets it. */
export interface ApprovalRequest extends ApprovalParams {
  readonly id: string;
  readonly toolCallId?: string | undefined;
  readonly promptId?: string | undefined;
  /** The subagent that asks; nested ones are joined by `/`. */
  readonly agentId?: string | undefined;
  /** When the host gives up, in ms since the epoch. */
  readonly deadlineAt?: number | undefined;
}

/**
 * Decides whether a tool may run. What it throws, and anything but a result, denies. The signal is
 * aborted when the question has ended in another way; its reason is the host's `host_request_resolved`.
 */
export type Approve = (
  request: ApprovalRequest,
  context: { readonly signal: AbortSignal },
) => ApprovalResult | Promise<ApprovalResult>;

type Approval = Extract<HostRequestFrame, { method: "tool_approval" }>;

/** Asks a function about the approvals of one connection. */
export class Approvals {
  readonly #approve: Approve;
  readonly #send: (response: HostResponse) => void;
  readonly #open = new Map<string, AbortController>();

  constructor(approve: Approve, send: (response: HostResponse) => void) {
    this.#approve = approve;
    this.#send = send;
  }

  /** Asks about a request; one that is sent again is already being decided. */
  async open({ id, params, toolCallId, promptId, agentId, deadlineAt }: Approval): Promise<void> {
    if (this.#open.has(id)) return;
    const controller = new AbortController();
    this.#open.set(id, controller);
    const { signal } = controller;
    const request = { ...params, id, toolCallId, promptId, agentId, deadlineAt };
    const answer = await decide(this.#approve, request, signal);
    if (!signal.aborted) this.#send({ type: "host_response", id, ...answer });
  }

  /** The request has ended. */
  close(resolved: HostRequestResolved): void {
    this.#open.get(resolved.id)?.abort(resolved);
    this.#open.delete(resolved.id);
  }

  /** The host refuses the answer: what does not fit is a no. */
  refuse(id: string, message: string): void {
    if (this.#open.has(id)) this.#send({ type: "host_response", id, error: { message } });
  }

  /** The connection is gone. */
  end(): void {
    for (const controller of this.#open.values()) controller.abort();
    this.#open.clear();
  }
}

async function decide(
  approve: Approve,
  request: ApprovalRequest,
  signal: AbortSignal,
): Promise<Pick<HostResponse, "result" | "error">> {
  try {
    const result = await approve(request, { signal });
    return result === undefined ? { error: { message: "there was no decision" } } : { result };
  } catch (error) {
    return { error: { message: error instanceof Error ? error.message : String(error) } };
  }
}

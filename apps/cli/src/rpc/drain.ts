import type { AgentSession } from "@tau-agent/coding-agent";
import {
  type CommandFrame,
  type ErrorCode,
  ProtocolError,
  type Result,
} from "@tau-agent/rpc-protocol";

/** Refuses what begins work once the host is about to end. */
export function refuseWhileDraining(isDraining: boolean, { beginsWork }: CommandFrame): void {
  if (isDraining && beginsWork) throw new ProtocolError("draining");
}

/** Refusals that say what has become of a session. */
const ofSession = /^(?:unknown_session|session_closing|missing_session_id)$/;

/** The code of a refusal: during a drain it is chance which sessions are still open. */
export function codeWhileDraining(isDraining: boolean, code: ErrorCode): ErrorCode {
  return isDraining && ofSession.test(code) ? "draining" : code;
}

/** Lets a session end what it is doing, for a while; then ends it. */
export async function endWithin(session: AgentSession, timeoutMs: number): Promise<void> {
  const { promise: isOver, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, timeoutMs);
  await Promise.race([session.waitForIdle(), isOver]);
  clearTimeout(timer);
  await session.dispose();
}

/** Drains a host with one session. */
export class SingleDrain {
  readonly #session: AgentSession;
  readonly #timeoutMs: number;
  #draining: Promise<Result<"drain">> | undefined;

  constructor(session: AgentSession, timeoutMs: number) {
    this.#session = session;
    this.#timeoutMs = timeoutMs;
  }

  get hasBegun(): boolean {
    return this.#draining !== undefined;
  }

  /** Begins once; every caller gets the same result. */
  begin(): Promise<Result<"drain">> {
    this.#draining ??= this.#run();
    return this.#draining;
  }

  async #run(): Promise<Result<"drain">> {
    await endWithin(this.#session, this.#timeoutMs);
    const { sessionId } = this.#session.state;
    const { seq } = this.#session.nextOrder();
    const ended = {
      sessionId,
      durableSessionId: sessionId,
      // Not at the start, which would load Node's cryptography for it (row `start`).
      streamId: crypto.randomUUID(),
      seq: seq - 1,
    };
    return { sessions: [ended] };
  }
}

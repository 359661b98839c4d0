import type { Result } from "@tau-agent/rpc-protocol";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import { type LinkedHost, SessionLink } from "./session-link.ts";

export class SessionRoutes {
  readonly #host: LinkedHost;
  readonly #links = new Map<string, SessionLink>();

  constructor(host: LinkedHost) {
    this.#host = host;
  }

  get links(): readonly SessionLink[] {
    return [...this.#links.values()];
  }

  /** The link to a session; created if it does not exist. */
  link(sessionId: string): SessionLink {
    const known = this.#links.get(sessionId);
    if (known !== undefined && known.ended === undefined) return known;
    const link = new SessionLink(this.#host, sessionId);
    this.#links.set(sessionId, link);
    return link;
  }

  drop(sessionId: string): void {
    this.#links.delete(sessionId);
  }

  /** Takes a frame if it belongs to a session. */
  take(frame: Readonly<Record<string, unknown>>): boolean {
    const { sessionId, type, command, success, data } = frame;
    // At once, because the next frame may belong to the session.
    if (
      type === "response" &&
      command === "open_session" &&
      success === true &&
      isJsonObject(data)
    ) {
      const { sessionId: opened, streamId, seq } = data as Result<"open_session">;
      this.link(opened).position = { streamId, seq };
      return false;
    }
    const link = typeof sessionId === "string" ? this.#links.get(sessionId) : undefined;
    if (link === undefined) return false;
    if (type === "response" && command === "attach" && success === true && isJsonObject(data)) {
      link.attached(data as Result<"attach">);
    }
    link.receive(frame);
    if (link.ended !== undefined && typeof sessionId === "string") this.drop(sessionId);
    return true;
  }

  /** The connection is closed for good. */
  end(reason: string, wasAsked: boolean): void {
    for (const link of this.#links.values()) link.end(reason, wasAsked);
    this.#links.clear();
  }
}

import { redactSecrets } from "@tau-agent/ai";
import type { AgentSession, Diagnostic } from "@tau-agent/coding-agent";
import type { SessionEvent } from "@tau-agent/rpc-protocol";
import type { Connection } from "./connection.ts";

/** Sends the diagnostics of a session as events to a client that has said `initialize`. */
export class DiagnosticEvents {
  readonly #session: AgentSession;
  readonly #connection: Connection;
  #sent = 0;

  constructor(session: AgentSession, connection: Connection) {
    this.#session = session;
    this.#connection = connection;
    session.onDiagnostic(() => this.update());
  }

  /** Sends what has not been sent yet, from the start of the session on. */
  update(): void {
    if (!this.#connection.isInitialized) return;
    const { diagnostics } = this.#session;
    const news = diagnostics.slice(this.#sent);
    this.#sent = diagnostics.length;
    for (const diagnostic of news) {
      void this.#connection.send(eventOf(diagnostic), this.#session.nextOrder());
    }
  }
}

/** A diagnostic as clients get it. */
export function eventOf({ severity, code, message, path }: Diagnostic): SessionEvent {
  return {
    type: "diagnostic",
    severity,
    ...(code === undefined ? {} : { code }),
    message: redactSecrets(message),
    ...(path === undefined ? {} : { path }),
  };
}

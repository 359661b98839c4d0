import type { SessionEvent, WorkspaceState, WorkspaceStatus } from "@tau-agent/rpc-protocol";

/** What clients see of the place where a session's tools act. */
export class WorkspaceStanding {
  readonly #id: string;
  readonly #kind: WorkspaceState["kind"];
  #status: WorkspaceStatus = "connected";
  #report: ((event: SessionEvent) => void) | undefined;

  constructor(id: string, kind: WorkspaceState["kind"]) {
    this.#id = id;
    this.#kind = kind;
  }

  /** Whether the place is the host's own machine. */
  get isLocal(): boolean {
    return this.#kind === "local";
  }

  /** Called by what keeps the connection. */
  note(status: WorkspaceStatus, reason?: string): void {
    if (status === this.#status) return;
    this.#status = status;
    const why = reason === undefined ? {} : { reason };
    this.#report?.({ type: "workspace_status", id: this.#id, status, ...why });
  }

  /** Says from now on when the place is lost, and when it is there again. */
  reportTo(report: (event: SessionEvent) => void): void {
    this.#report = report;
  }

  /** The state of a session in this folder. */
  describe(cwd: string): WorkspaceState {
    return { id: this.#id, kind: this.#kind, cwd, status: this.#status };
  }
}

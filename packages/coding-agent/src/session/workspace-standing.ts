import type { SessionEvent, WorkspaceState, WorkspaceStatus } from "@tau-agent/rpc-protocol";

/** The state of a session's workspace, as clients see it. */
export class WorkspaceStanding {
  readonly #id: string;
  readonly #kind: WorkspaceState["kind"];
  #status: WorkspaceStatus = "connected";
  #report: ((event: SessionEvent) => void) | undefined;

  constructor(id: string, kind: WorkspaceState["kind"]) {
    this.#id = id;
    this.#kind = kind;
  }

  /** Whether the workspace is the host's own machine. */
  get isLocal(): boolean {
    return this.#kind === "local";
  }

  /** Called by the owner of the connection. */
  note(status: WorkspaceStatus, reason?: string): void {
    if (status === this.#status) return;
    this.#status = status;
    const why = reason === undefined ? {} : { reason };
    this.#report?.({ type: "workspace_status", id: this.#id, status, ...why });
  }

  /** Reports from now on when the workspace is lost or reachable again. */
  reportTo(report: (event: SessionEvent) => void): void {
    this.#report = report;
  }

  /** The workspace's state for a session in this folder. */
  describe(cwd: string): WorkspaceState {
    return { id: this.#id, kind: this.#kind, cwd, status: this.#status };
  }
}

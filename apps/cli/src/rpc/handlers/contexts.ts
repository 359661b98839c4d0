import type { AgentSession } from "@tau-agent/coding-agent";
import type {
  CommandName,
  commands,
  Handlers,
  HostedSessionInfo,
  Params,
  RequestId,
  Result,
  SandboxInfo,
} from "@tau-agent/rpc-protocol";
import type { WorkMethod } from "@tau-agent/rpc-protocol/plain";
import type { ClientRequests } from "../connection/client-requests.ts";
import type { Connection } from "../connection/connection.ts";

export type AfterAnswer = (run: () => void) => void;

export interface Host {
  /** The policy, which no session can widen; undefined without a policy and in a host with one session. */
  readonly policy: AgentSession["policy"];
  /** The sandbox that a session in the host's folder would have. */
  describeSandbox(): Promise<SandboxInfo>;
  current(): Promise<HostedSessionInfo[]>;
  /** The stored sessions of every project, latest first. */
  saved(): Promise<readonly object[]>;
  /**
   * Refuses a session file that another session of this host uses.
   *
   * @throws {ProtocolError} `session_path_in_use`
   */
  refusePathInUse(path: string, except: AgentSession): void;
  /** Gives running work time to end, then ends all sessions. */
  drain(): Promise<Result<"drain">>;
}

export interface CommandClient {
  /** The client's settings, which its sessions' connections share. */
  readonly connection: Connection;
  /**
   * Applies `initialize` to all sessions of the client.
   *
   * @returns whether any setting of the client has changed
   */
  initialize(asked: Params<"initialize">): boolean;
  /** {@link AttachedSession.catchUp} of all sessions of the client. */
  catchUp(): void;
  setEventFilter(connection: Connection, events: readonly string[] | undefined): void;
  openSession(
    params: Params<"open_session">,
    afterAnswer: AfterAnswer,
  ): Promise<Result<"open_session">>;
  closeSession(attachment: AttachedSession): Promise<void>;
}

export interface AttachedSession {
  attach(params: Params<"attach">, afterAnswer: AfterAnswer): Result<"attach">;
  detach(params: Params<"detach">): void;
  /** Sends what a client receives once it has declared which requests it answers: diagnostics and open requests. */
  catchUp(): void;
  /** From now on, this client does this kind of work for the session. */
  takeWork(method: WorkMethod): void;
  /** Sends the client the work that waits for one. */
  orderWork(method: WorkMethod): void;
}

export interface HostContext {
  readonly host: Host;
  readonly client: CommandClient;
  readonly connection: Connection;
  /** The session that the command names, or the only session of the host. */
  readonly session?: AgentSession;
  /** The client's connection to that session. */
  readonly attachment?: AttachedSession;
}

export interface SessionContext extends HostContext {
  readonly session: AgentSession;
  readonly requests: ClientRequests;
  readonly attachment: AttachedSession;
}

interface Contexts {
  readonly host: HostContext;
  readonly connection: HostContext;
  readonly session: SessionContext;
}

export interface CommandRequest {
  readonly id: RequestId | undefined;
  readonly afterAnswer: AfterAnswer;
}

/** One handler per command, with the context that the command's scope provides. */
export type HostHandlers = {
  [N in CommandName]: (
    context: Contexts[(typeof commands)[N]["scope"]],
    params: Params<N>,
    request: CommandRequest,
  ) => ReturnType<Handlers<unknown>[N]>;
};

import type { JsonObject } from "@tau-agent/rpc-protocol/plain";
import type { KeyMask } from "@tau-agent/system";
import type { McpServerConfig, McpTransportKind } from "../config/server-entry.ts";
import type { RequestLimits, ServerDemands, ServerList } from "./connection.ts";
import { failureOf, reasonAt, reasonOf } from "./failures.ts";
import type { Life, OpenedServer } from "./opened-server.ts";
import { type RemotePrompt, type RemoteTool, readPrompt, readTool } from "./remote.ts";

export type McpStatus =
  | "disabled"
  | "idle"
  | "connecting"
  | "connected"
  | "needs_auth"
  | "restarting"
  | "failed";

export interface McpServerOptions {
  readonly config: McpServerConfig;
  readonly demands: Omit<ServerDemands, "onListChanged">;
  readonly open: (config: McpServerConfig, life: Life) => Promise<OpenedServer>;
  /** Receives the refusal of a server that requires a login. */
  readonly onRefused: (error: unknown) => void;
  readonly loginHint: string;
  readonly maskKeys: KeyMask;
}

export class McpServerError extends Error {
  override readonly name = "McpServerError";
}

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 30_000;
const MAX_RESTARTS = 5;
/** After this uptime, earlier restarts of a server no longer count. */
const HEALTHY_MS = 60_000;
/** Servers announce changes in bursts. */
const LIST_DELAY_MS = 50;

/**
 * One configured server: starts it, keeps the lists of what it offers, and restarts it with growing
 * delays when it is lost.
 */
export class McpServer {
  readonly config: McpServerConfig;
  readonly #options: McpServerOptions;
  readonly #listeners = new Set<(change: "status" | "lists") => void>();
  #status: McpStatus;
  #error: string | undefined;
  #opened: OpenedServer | undefined;
  #transport: McpTransportKind;
  #tools: readonly RemoteTool[] = [];
  #prompts: readonly RemotePrompt[] = [];
  #instructions: string | undefined;
  #restarts = 0;
  #attempts = 0;
  #connectedAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #listTimer: NodeJS.Timeout | undefined;
  #attempt: Promise<void> = Promise.resolve();
  #attempting = new AbortController();
  #isStopped = false;

  constructor(options: McpServerOptions) {
    this.#options = options;
    this.config = options.config;
    this.#transport = options.config.entry.transport;
    this.#status = options.config.entry.isEnabled ? "idle" : "disabled";
  }

  get status(): McpStatus {
    return this.#status;
  }

  get error(): string | undefined {
    return this.#error;
  }

  /** The transport in use, or the configured one while there is no connection. */
  get transport(): McpTransportKind {
    return this.#transport;
  }

  get restarts(): number {
    return this.#restarts;
  }

  /** The tools that it offered when last asked; kept while it restarts. */
  get tools(): readonly RemoteTool[] {
    return this.#tools;
  }

  get prompts(): readonly RemotePrompt[] {
    return this.#prompts;
  }

  get instructions(): string | undefined {
    return this.#instructions;
  }

  /** Whether it is known to have resources to read. */
  get hasResources(): boolean {
    return this.#opened?.connection.capabilities.resources !== undefined;
  }

  onChange(listener: (change: "status" | "lists") => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Connects, unless that has already begun or the server is disabled. */
  start(): void {
    if (this.#status === "idle") this.#connect("connecting");
  }

  /** Connects again: after a login, or on request. */
  async reconnect(): Promise<void> {
    if (this.#status === "disabled" || this.#isStopped) return;
    clearTimeout(this.#timer);
    this.#attempts = 0;
    this.#connect("connecting");
    await this.settled();
  }

  /** Resolves once it is no longer connecting for the first time, or on request. */
  async settled(): Promise<void> {
    let attempt: Promise<void>;
    do {
      attempt = this.#attempt;
      await attempt;
    } while (attempt !== this.#attempt);
  }

  /** Ends it for good, even while it is connecting. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#listTimer);
    this.#attempting.abort();
    await this.#close();
    await this.#attempt;
    if (this.#status !== "disabled") this.#status = "idle";
  }

  /**
   * Sends a request. If the server has forgotten the session, opens a new one and repeats the request
   * once, because it was not accepted. No other request is sent twice.
   *
   * @throws {McpServerError} it is not connected; otherwise the server's error
   */
  async request(method: string, params: JsonObject, limits: RequestLimits): Promise<JsonObject> {
    return this.#perform(({ connection }) => connection.request(method, params, limits));
  }

  async list(method: string, member: string, limits: RequestLimits): Promise<readonly unknown[]> {
    return this.#perform(({ connection }) => connection.list(method, member, limits));
  }

  async #perform<Result>(work: (opened: OpenedServer) => Promise<Result>): Promise<Result> {
    if (this.#status === "connecting") await this.settled();
    const opened = this.#opened;
    if (opened === undefined || this.#status !== "connected") throw this.#unusable();
    try {
      return await work(opened);
    } catch (thrown) {
      const error = this.#masked(thrown);
      const failure = failureOf(error);
      if (failure !== "session_gone" || opened.transport !== "http") throw this.#noted(error);
      // Requests that are refused at the same time share the new session.
      await (this.#opened === opened ? this.reconnect() : this.settled());
      const again = this.#opened;
      if (again === undefined) throw this.#unusable();
      return work(again).catch((repeated: unknown) => {
        throw this.#noted(this.#masked(repeated));
      });
    }
  }

  /** An error without tokens in its text: a server may send back what it received. */
  #masked(error: unknown): unknown {
    if (error instanceof Error) error.message = this.#options.maskKeys(error.message);
    return error;
  }

  /** The problem, including the address of a server that has one. */
  reasonOf(error: unknown): string {
    const { entry } = this.config;
    return entry.transport === "stdio" ? reasonOf(error) : reasonAt(entry.url, error);
  }

  /** Reacts to an error and returns the one that the caller gets. */
  #noted(error: unknown): unknown {
    const failure = failureOf(error);
    if (failure === "needs_login") {
      this.#options.onRefused(error);
      this.#set("needs_auth", this.reasonOf(error));
      return this.#unusable();
    }
    if (failure !== "lost" && failure !== "session_gone") return error;
    // The end of a program is reported separately.
    if (this.#transport !== "stdio") this.#lost(this.reasonOf(error));
    return new McpServerError(`${this.#title} was lost: ${this.#error ?? this.reasonOf(error)}`);
  }

  get #title(): string {
    return `The MCP server ${this.config.name}`;
  }

  #unusable(): McpServerError {
    const reason = this.#error === undefined ? "" : `: ${this.#error}`;
    const texts: Partial<Record<McpStatus, string>> = {
      needs_auth: `needs a login. ${this.#options.loginHint}`,
      restarting: `is being started again${reason}. Try again in a moment.`,
      failed: `does not work${reason}`,
      disabled: "is disabled",
    };
    return new McpServerError(`${this.#title} ${texts[this.#status] ?? "is not connected"}`);
  }

  #connect(status: "connecting" | "restarting"): void {
    this.#set(status, status === "restarting" ? this.#error : undefined);
    this.#attempting.abort();
    this.#attempting = new AbortController();
    const before = Promise.all([this.#attempt, this.#close()]);
    const { signal } = this.#attempting;
    this.#attempt = before.then(() => this.#open(signal));
  }

  async #open(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    let life: OpenedServer | undefined;
    try {
      const opened = await this.#options.open(this.config, {
        demands: { ...this.#options.demands, onListChanged: (list) => this.#reload(list) },
        signal,
        onClosed: () => {
          if (life !== undefined && this.#opened === life) this.#lost(life.failure() ?? "it ended");
        },
      });
      life = opened;
      if (signal.aborted) return void (await opened.connection.close());
      this.#opened = opened;
      this.#transport = opened.transport;
      await this.#readLists(opened);
      if (this.#opened !== opened) return;
      this.#instructions = opened.connection.instructions;
      this.#connectedAt = performance.now();
      this.#set("connected", undefined);
      this.#announce("lists");
    } catch (error) {
      if (signal.aborted) return;
      // A server that ended while its lists were being read has already been noted.
      if (life !== undefined && this.#opened !== life) return;
      await this.#close();
      this.#failed(error);
    }
  }

  #failed(thrown: unknown): void {
    const error = this.#masked(thrown);
    const failure = failureOf(error);
    if (failure === "needs_login") this.#options.onRefused(error);
    const reason = this.reasonOf(error);
    // A server may be about to start if the address once worked, or does not know the session.
    const isAway = failure === "session_gone" || (failure === "refused" && this.#connectedAt > 0);
    if (failure === "lost" || isAway) this.#retry(reason);
    else this.#set(failure === "needs_login" ? "needs_auth" : "failed", reason);
  }

  async #readLists({ connection }: OpenedServer): Promise<void> {
    const limits = { timeoutMs: this.config.entry.timeoutMs };
    const { tools, prompts } = connection.capabilities;
    this.#tools =
      tools === undefined
        ? []
        : (await connection.list("tools/list", "tools", limits)).flatMap((t) => readTool(t) ?? []);
    this.#prompts =
      prompts === undefined
        ? []
        : (await connection.list("prompts/list", "prompts", limits)).flatMap(
            (p) => readPrompt(p) ?? [],
          );
  }

  #reload(_list: ServerList): void {
    if (this.#listTimer !== undefined) return;
    this.#listTimer = setTimeout(() => {
      this.#listTimer = undefined;
      const opened = this.#opened;
      if (opened === undefined) return;
      this.#readLists(opened).then(
        () => this.#announce("lists"),
        () => {},
      );
    }, LIST_DELAY_MS);
  }

  #lost(reason: string): void {
    if (this.#isStopped || this.#opened === undefined) return;
    const { connection } = this.#opened;
    this.#opened = undefined;
    void connection.close();
    if (performance.now() - this.#connectedAt > HEALTHY_MS && this.#status === "connected") {
      this.#attempts = 0;
    }
    this.#retry(reason);
  }

  #retry(reason: string): void {
    if (this.#attempts >= MAX_RESTARTS) {
      this.#set("failed", reason);
      return;
    }
    const delay = Math.min(FIRST_DELAY_MS * 2 ** this.#attempts, MAX_DELAY_MS);
    this.#attempts += 1;
    this.#set("restarting", reason);
    this.#timer = setTimeout(() => {
      this.#restarts += 1;
      this.#connect("restarting");
    }, delay);
    this.#timer.unref();
  }

  async #close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    await opened?.connection.close();
  }

  #set(status: McpStatus, error: string | undefined): void {
    if (this.#isStopped) return;
    const text = this.#options.maskKeys(error);
    const isSame = status === this.#status && text === this.#error;
    this.#status = status;
    this.#error = text;
    if (!isSame) this.#announce("status");
  }

  #announce(change: "status" | "lists"): void {
    for (const listener of this.#listeners) listener(change);
  }
}

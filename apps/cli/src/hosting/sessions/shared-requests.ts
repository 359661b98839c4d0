import type { HostRequests, RequestSink } from "@tau-agent/coding-agent";
import type {
  HostRequestMethod,
  HostRequestResolved,
  OpenHostRequest,
} from "@tau-agent/rpc-protocol";
import { hostRequestMethods } from "@tau-agent/rpc-protocol/plain";
import type { ClientRequests } from "../../rpc/connection/client-requests.ts";

export interface SharedRequestsOptions {
  readonly requests: HostRequests;
  /** Calls what sends one frame to several clients; they all get it with the same number. */
  readonly together: (send: () => void) => void;
  readonly keep: (resolved: HostRequestResolved) => void;
  /**
   * How long the client that runs tools may be away, in ms; undefined where a client that leaves does
   * not come back.
   */
  readonly graceMs: number | undefined;
}

const goneText = "the client that runs it has left";

/**
 * Asks all clients of a session. The first answer counts. Where clients come back, a request stays open
 * while nobody is there, if somebody who answers it has been.
 */
export class SharedRequests implements RequestSink {
  readonly #options: SharedRequestsOptions;
  readonly #clients = new Set<ClientRequests>();
  /** Methods that some client has answered. */
  readonly #seen = new Set<HostRequestMethod>();
  #runner: ClientRequests | undefined;
  #grace: NodeJS.Timeout | undefined;
  /** The client that is asked for keys, once somebody has opened the session. */
  #keyClient: ClientRequests | undefined;
  #isOpened = false;
  /** The client whose answer is being taken. */
  #answering: ClientRequests | undefined;
  /** Calls that some client has been told of. */
  readonly #called = new Set<string>();

  constructor(options: SharedRequestsOptions) {
    this.#options = options;
    options.requests.attach(this);
  }

  add(client: ClientRequests): void {
    this.#clients.add(client);
    if (this.#isOpened && client.answers("credential")) this.#keyClient ??= client;
    this.note();
  }

  /**
   * A client has opened the session: it alone is asked for keys and, once it has left, the first that comes
   * and answers that.
   *
   * @param client - undefined for a single command over HTTP, which has no connection to ask
   */
  openedBy(client: ClientRequests | undefined): void {
    this.#isOpened = true;
    this.#keyClient = client;
  }

  /** Takes note of what clients answer now. */
  note(): void {
    // Only where clients come back does it matter who has been there.
    if (this.#options.graceMs === undefined) return;
    for (const method of hostRequestMethods) {
      if (this.#isAnswered(method)) this.#seen.add(method);
    }
  }

  /** Sends everything open to a client that has just said what it answers. */
  repeatTo(client: ClientRequests): void {
    this.note();
    // Where clients do not come back, requests that nobody can answer end.
    if (this.#options.graceMs === undefined) {
      this.#options.requests.show();
      return;
    }
    this.#options.together(() => {
      for (const request of this.#options.requests.pending) {
        if (request.method !== "host_tool" && client.answers(request.method)) client.open(request);
      }
    });
  }

  /** From now on this client runs the tools. */
  run(client: ClientRequests): void {
    clearTimeout(this.#grace);
    this.#grace = undefined;
    if (this.#runner !== undefined) this.#runner.runsTools = false;
    client.runsTools = true;
    this.#runner = client;
    // A single command over HTTP has no connection that could be called.
    if (!this.#clients.has(client)) this.#waitForRunner();
  }

  /** Calls the tools that wait for a client to run them. */
  callTools(): void {
    for (const request of this.#options.requests.pending) {
      if (request.method === "host_tool" && !this.#called.has(request.id)) this.#call(request);
    }
  }

  remove(client: ClientRequests): void {
    this.#clients.delete(client);
    if (this.#keyClient === client) this.#keyClient = undefined;
    if (this.#runner === client) this.#waitForRunner();
    if (this.#options.graceMs === undefined) this.#options.requests.show();
  }

  end(): void {
    clearTimeout(this.#grace);
    this.#clients.clear();
  }

  answeredBy<Result>(client: ClientRequests, take: () => Result): Result {
    this.#answering = client;
    try {
      return take();
    } finally {
      this.#answering = undefined;
    }
  }

  answers(method: HostRequestMethod): boolean {
    if (method === "host_tool") return this.#runner !== undefined;
    if (method === "credential") return this.#askedForKeys() !== undefined;
    if (this.#isAnswered(method)) return true;
    return this.#options.graceMs !== undefined && this.#seen.has(method);
  }

  open(request: OpenHostRequest): boolean {
    if (request.method === "host_tool") {
      if (this.#runner === undefined) return false;
      if (!this.#called.has(request.id)) this.#call(request);
      return true;
    }
    if (request.method === "credential") return this.#askedForKeys()?.open(request) === true;
    let isShown = false;
    this.#options.together(() => {
      for (const client of [...this.#clients]) {
        if (client.answers(request.method) && client.open(request)) isShown = true;
      }
    });
    return isShown || (this.#options.graceMs !== undefined && this.#seen.has(request.method));
  }

  closed(request: OpenHostRequest, resolved: HostRequestResolved): void {
    this.#called.delete(request.id);
    this.#options.together(() => {
      for (const client of [...this.#clients]) {
        const isOwn = resolved.by === "client" && client === this.#answering;
        client.closed(request, resolved, isOwn);
      }
      const isKept = request.method !== "host_tool" && request.method !== "credential";
      if (isKept) this.#options.keep(resolved);
    });
  }

  /** Where nobody has opened the session, all clients have: the first that answers is asked. */
  #askedForKeys(): ClientRequests | undefined {
    const clients = this.#isOpened ? [this.#keyClient] : [...this.#clients];
    return clients.find((client) => client?.answers("credential"));
  }

  #call(request: OpenHostRequest): void {
    const runner = this.#runner;
    // One that is away gets it when it is back.
    if (runner === undefined || !this.#clients.has(runner)) return;
    this.#called.add(request.id);
    this.#options.together(() => runner.open(request));
  }

  #isAnswered(method: HostRequestMethod): boolean {
    return [...this.#clients].some((client) => client.answers(method));
  }

  #waitForRunner(): void {
    const { graceMs = 0 } = this.#options;
    this.#grace = setTimeout(() => this.#giveRunnerUp(), graceMs);
    this.#grace.unref();
  }

  #giveRunnerUp(): void {
    this.#runner = undefined;
    const { requests } = this.#options;
    for (const { id, method } of requests.pending) {
      if (method === "host_tool") requests.answer(id, { error: `No result: ${goneText}.` });
    }
  }
}

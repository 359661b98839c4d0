import type { HostRequests, RequestSink } from "@tau-agent/coding-agent";
import type {
  HostRequestMethod,
  HostRequestResolved,
  OpenHostRequest,
} from "@tau-agent/rpc-protocol";
import { hostRequestMethods, isWork, type WorkMethod } from "@tau-agent/rpc-protocol/plain";
import { SparseSet } from "@tau-agent/system";
import type { ClientRequests } from "../../rpc/connection/client-requests.ts";
import { WorkingClient } from "./working-client.ts";

export interface SharedRequestsOptions {
  readonly requests: HostRequests;
  /** Calls a function that sends one frame to several clients; all of them get it with the same number. */
  readonly together: (send: () => void) => void;
  readonly keep: (resolved: HostRequestResolved) => void;
  /**
   * How long a client that runs tools or serves URIs may be disconnected, in ms; undefined if clients do not
   * reconnect.
   */
  readonly graceMs: number | undefined;
}

/**
 * Asks all clients of a session. The first answer counts. If clients can reconnect, a request that some
 * client has been able to answer stays open while no such client is connected.
 */
export class SharedRequests implements RequestSink {
  readonly #options: SharedRequestsOptions;
  readonly #clients = new SparseSet<ClientRequests>();
  /** The methods that some client has been able to answer. */
  readonly #seen = new SparseSet<HostRequestMethod>();
  readonly #working: Readonly<Record<WorkMethod, WorkingClient>>;
  /** The client that is asked for keys, once a client has opened the session. */
  #keyClient: ClientRequests | undefined;
  #isOpened = false;
  /** The client whose answer is being taken. */
  #answering: ClientRequests | undefined;

  constructor(options: SharedRequestsOptions) {
    this.#options = options;
    const { requests, together, graceMs } = options;
    const isHere = (client: ClientRequests) => this.#clients.has(client);
    const working = { requests, together, graceMs, isHere };
    this.#working = {
      host_tool: new WorkingClient("host_tool", working),
      host_uri: new WorkingClient("host_uri", working),
    };
    requests.attach(this);
  }

  add(client: ClientRequests): void {
    this.#clients.add(client);
    if (this.#isOpened && client.answers("credential")) this.#keyClient ??= client;
    this.note();
  }

  /**
   * A client has opened the session. Only this client is asked for keys; after it has left, the next client
   * that answers `credential` is asked.
   *
   * @param client - undefined for a single command over HTTP, which has no connection to ask
   */
  openedBy(client: ClientRequests | undefined): void {
    this.#isOpened = true;
    this.#keyClient = client;
  }

  /** Records which methods the clients answer now. */
  note(): void {
    // Earlier clients matter only if clients can reconnect.
    if (this.#options.graceMs === undefined) return;
    for (const method of hostRequestMethods) {
      if (this.#isAnswered(method)) this.#seen.add(method);
    }
  }

  /** Sends all open requests to a client that has just declared which methods it answers. */
  repeatTo(client: ClientRequests): void {
    this.note();
    // If clients do not reconnect, requests that nobody can answer end.
    if (this.#options.graceMs === undefined) {
      this.#options.requests.show();
      return;
    }
    this.#options.together(() => {
      for (const request of this.#options.requests.pending) {
        if (!isWork(request) && client.answers(request.method)) client.open(request);
      }
    });
  }

  /** From now on, this client does this kind of work. */
  workBy(client: ClientRequests, method: WorkMethod): void {
    this.#working[method].take(client);
  }

  /** Sends the waiting work to a client. */
  orderWork(method: WorkMethod): void {
    this.#working[method].orderAll();
  }

  remove(client: ClientRequests): void {
    this.#clients.delete(client);
    if (this.#keyClient === client) this.#keyClient = undefined;
    for (const each of this.#all()) each.left(client);
    if (this.#options.graceMs === undefined) this.#options.requests.show();
  }

  end(): void {
    for (const each of this.#all()) each.end();
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
    if (method === "host_tool" || method === "host_uri") return this.#working[method].isThere;
    if (method === "credential") return this.#askedForKeys() !== undefined;
    if (this.#isAnswered(method)) return true;
    return this.#options.graceMs !== undefined && this.#seen.has(method);
  }

  open(request: OpenHostRequest): boolean {
    if (isWork(request)) return this.#working[request.method].open(request);
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
    if (isWork(request)) this.#working[request.method].closed(request);
    this.#options.together(() => {
      for (const client of [...this.#clients]) {
        const isOwn = resolved.by === "client" && client === this.#answering;
        client.closed(request, resolved, isOwn);
      }
      if (!isWork(request) && request.method !== "credential") this.#options.keep(resolved);
    });
  }

  /** If no client has opened the session, all share it: the first client that answers requests for keys is asked. */
  #askedForKeys(): ClientRequests | undefined {
    const clients = this.#isOpened ? [this.#keyClient] : [...this.#clients];
    return clients.find((client) => client?.answers("credential"));
  }

  #isAnswered(method: HostRequestMethod): boolean {
    return [...this.#clients].some((client) => client.answers(method));
  }

  #all(): readonly WorkingClient[] {
    return Object.values(this.#working);
  }
}

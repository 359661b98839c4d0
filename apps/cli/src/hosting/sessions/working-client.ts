import type { HostRequests } from "@tau-agent/coding-agent";
import type { WorkRequest } from "@tau-agent/rpc-protocol";
import type { WorkMethod } from "@tau-agent/rpc-protocol/plain";
import { SparseSet } from "@tau-agent/system";
import type { ClientRequests } from "../../rpc/connection/client-requests.ts";

export interface WorkingClientOptions {
  readonly requests: HostRequests;
  readonly together: (send: () => void) => void;
  /** How long it may be disconnected; undefined if clients do not reconnect. */
  readonly graceMs: number | undefined;
  readonly isHere: (client: ClientRequests) => boolean;
}

const goneTexts: Readonly<Record<WorkMethod, string>> = {
  host_tool: "No result: the client that runs it has left.",
  host_uri: "the client that serves it has left",
};

/** The client of a session that runs its tools or serves its URIs. */
export class WorkingClient {
  readonly #method: WorkMethod;
  readonly #options: WorkingClientOptions;
  /** Ids of the requests that were sent to a client. */
  readonly #told = new SparseSet<string>();
  #client: ClientRequests | undefined;
  #grace: NodeJS.Timeout | undefined;

  constructor(method: WorkMethod, options: WorkingClientOptions) {
    this.#method = method;
    this.#options = options;
  }

  get isThere(): boolean {
    return this.#client !== undefined;
  }

  /** Makes this client the one that does the work. */
  take(client: ClientRequests): void {
    clearTimeout(this.#grace);
    this.#grace = undefined;
    this.#client?.works.delete(this.#method);
    client.works.add(this.#method);
    this.#client = client;
    // A single command over HTTP has no connection for calls.
    if (!this.#options.isHere(client)) this.#wait();
  }

  /** Sends the client the requests that wait for one. */
  orderAll(): void {
    for (const request of this.#options.requests.pending) {
      if (request.method === this.#method) this.open(request);
    }
  }

  open(request: WorkRequest): boolean {
    const client = this.#client;
    if (client === undefined) return false;
    // A disconnected client gets the request when it reconnects.
    if (this.#told.has(request.id) || !this.#options.isHere(client)) return true;
    this.#told.add(request.id);
    this.#options.together(() => client.open(request));
    return true;
  }

  closed({ id }: WorkRequest): void {
    this.#told.delete(id);
  }

  left(client: ClientRequests): void {
    if (this.#client === client) this.#wait();
  }

  end(): void {
    clearTimeout(this.#grace);
  }

  #wait(): void {
    const { graceMs = 0 } = this.#options;
    this.#grace = setTimeout(() => this.#giveUp(), graceMs);
    this.#grace.unref();
  }

  #giveUp(): void {
    this.#client = undefined;
    const { requests } = this.#options;
    for (const { id, method } of requests.pending) {
      if (method === this.#method) requests.answer(id, { error: goneTexts[method] });
    }
  }
}

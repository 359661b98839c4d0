import type { ExtensionUiRequest, HostRequestFrame, PendingRequest } from "@tau-agent/rpc-protocol";
import { ClientWorkspaceServer, type Workspace } from "@tau-agent/rpc-protocol/workspace";
import type { ConnectionClosedError } from "../base/errors.ts";
import { Connection } from "../connection/connection.ts";
import type { AskedFrame } from "../connection/host-frame.ts";
import type { Deciders } from "../events/decisions.ts";
import type { EventHub } from "../events/event-hub.ts";
import { answerUiRequest, cancelled, type ExtensionUiHandlers } from "../events/extension-ui.ts";
import { HostRequestHandler } from "../events/host-requests.ts";
import { HostToolRunner } from "../events/host-tools.ts";
import { HostUriRunner } from "../events/host-uris.ts";

export interface SessionChannelOptions {
  readonly write: (line: string) => void;
  readonly hub: EventHub;
  /** Functions that answer the host's requests. */
  readonly handlers: Deciders & {
    readonly ui?: ExtensionUiHandlers | undefined;
    readonly workspace?: Workspace | undefined;
  };
  /** Receives notes for the user of the client. */
  readonly note: (text: string) => void;
  /**
   * Stops reading until this has settled; undefined for a connection shared by several sessions, which does not wait.
   */
  readonly hold?: (until: Promise<unknown>) => void;
  readonly tag?: { readonly sessionId: string } | undefined;
  readonly idPrefix?: string | undefined;
  readonly namesPrompts?: boolean | undefined;
}

/** The frames of one session in both directions: commands, events, requests of the host, and tools. */
export class SessionChannel {
  readonly connection: Connection;
  readonly tools: HostToolRunner;
  readonly uris: HostUriRunner;
  readonly #options: SessionChannelOptions;
  readonly #requests: HostRequestHandler;
  readonly #workspace: ClientWorkspaceServer | undefined;

  constructor(options: SessionChannelOptions) {
    this.#options = options;
    const { handlers, hub, note, tag } = options;
    const { ui = {}, workspace } = handlers;
    const send = (response: Parameters<Connection["answerHostRequest"]>[0]): void =>
      this.connection.answerHostRequest(response);
    this.#workspace = workspace && new ClientWorkspaceServer(workspace, send);
    const { sessionId } = tag ?? {};
    this.#requests = new HostRequestHandler({ ...handlers, ui, send, sessionId });
    this.tools = new HostToolRunner(send);
    this.uris = new HostUriRunner(send);
    this.connection = new Connection({
      ...options,
      onAsked: (frame) => this.#take(frame),
      onRefused: (id, message) => this.#requests.refuse(id, message),
      onEvent: (event) => {
        const wait = hub.emit(event);
        if (wait !== undefined) options.hold?.(wait);
      },
      onUiRequest: (request) => void this.#showUi(request),
      onNoise: (line) => note(`not a frame: ${line.slice(0, 500)}`),
    });
  }

  /** Handles the requests that were open when the client attached. */
  takeUp(pending: readonly PendingRequest[]): void {
    for (const request of pending) {
      if (request.method === "host_tool") this.#takeUpCall(request);
      else if (request.method === "host_uri") this.#takeUpUri(request);
      else this.#requests.open({ type: "host_request", ...request } as HostRequestFrame);
    }
  }

  /** The wire was lost and is being restored. */
  interrupt(error: ConnectionClosedError): void {
    void this.#workspace?.restart();
    this.connection.interrupt(error);
  }

  close(error: ConnectionClosedError): void {
    void this.#workspace?.end();
    this.#requests.end();
    this.tools.end();
    this.uris.end();
    this.connection.close(error);
  }

  #take(frame: AskedFrame): void {
    switch (frame.type) {
      case "host_request":
        this.#requests.open(frame);
        break;
      case "host_request_resolved":
        this.#requests.close(frame);
        break;
      case "host_tool_call":
        void this.tools.run(frame);
        break;
      case "host_tool_cancel":
        this.tools.cancel(frame);
        break;
      case "host_uri_request":
        void this.uris.run(frame);
        break;
      case "host_uri_cancel":
        this.uris.cancel(frame);
        break;
      default:
        this.#workspace?.take(frame);
    }
  }

  #takeUpCall({
    id,
    toolCallId = "",
    agentId,
    params,
  }: Extract<PendingRequest, { method: "host_tool" }>): void {
    if (!this.tools.tools.has(params.toolName)) return;
    const caller = agentId === undefined ? {} : { agentId };
    void this.tools.run({ type: "host_tool_call", id, toolCallId, ...caller, ...params });
  }

  #takeUpUri({ id, agentId, params }: Extract<PendingRequest, { method: "host_uri" }>): void {
    // A client that serves no schemes does not receive the requests.
    if (this.uris.definitions.length === 0) return;
    const caller = agentId === undefined ? {} : { agentId };
    void this.uris.run({ type: "host_uri_request", id, ...caller, ...params });
  }

  async #showUi(request: ExtensionUiRequest): Promise<void> {
    const { connection } = this;
    const { handlers, tag } = this.#options;
    try {
      const answer = await answerUiRequest(request, handlers.ui ?? {}, tag?.sessionId);
      if (answer) connection.answerUiRequest(answer);
    } catch (error) {
      connection.answerUiRequest(cancelled(request.id));
      this.#options.note(`the UI handler of ${request.method} failed: ${String(error)}`);
    }
  }
}

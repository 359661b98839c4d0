import type { HostRequestFrame, HostRequestResolved, HostResponse } from "@tau-agent/rpc-protocol";
import { asDialog, resultOfDialog } from "@tau-agent/rpc-protocol/plain";
import { type Deciders, Decisions } from "./decisions.ts";
import { answerUiRequest, type ExtensionUiHandlers } from "./extension-ui.ts";

/** What a client with functions for it answers as a host request; dialogs stay dialogs. */
export const answeredMethods = ["tool_approval", "budget"] as const;

export interface HostRequestHandlerOptions extends Deciders {
  /** Shows what has no function of its own. */
  readonly ui: ExtensionUiHandlers;
  readonly send: (response: HostResponse) => void;
}

export class HostRequestHandler {
  readonly #options: HostRequestHandlerOptions;
  readonly #decisions: Decisions;

  constructor(options: HostRequestHandlerOptions) {
    this.#options = options;
    this.#decisions = new Decisions(options, options.send);
  }

  open(request: HostRequestFrame): void {
    if (!this.#decisions.open(request)) void this.#show(request);
  }

  close(resolved: HostRequestResolved): void {
    this.#decisions.close(resolved);
  }

  refuse(id: string, message: string): void {
    this.#decisions.refuse(id, message);
  }

  end(): void {
    this.#decisions.end();
  }

  /** As a dialog, where this client can show one. */
  async #show(request: HostRequestFrame): Promise<void> {
    const { ui, send } = this.#options;
    const { id } = request;
    const dialog = asDialog(request, Date.now());
    try {
      const answer = dialog && (await answerUiRequest(dialog, ui));
      if (answer === undefined)
        send({ type: "host_response", id, error: { message: "not shown" } });
      else send({ type: "host_response", id, result: resultOfDialog(request, answer) });
    } catch (error) {
      send({ type: "host_response", id, error: { message: String(error) } });
    }
  }
}

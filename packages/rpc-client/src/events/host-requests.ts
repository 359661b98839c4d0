import type { HostRequestFrame, HostRequestResolved, HostResponse } from "@tau-agent/rpc-protocol";
import {
  asDialog,
  QuestionDialogs,
  type QuestionHostRequest,
  resultOfDialog,
} from "@tau-agent/rpc-protocol/plain";
import { type Deciders, Decisions } from "./decisions.ts";
import { answerUiRequest, type ExtensionUiHandlers } from "./extension-ui.ts";

/**
 * The methods that a client answers as host requests; dialogs stay dialogs. Questions of the model and
 * requests for keys are included only if there is a handler for them.
 */
export function answeredMethods({
  credentials,
  answerQuestions,
  answerElicitation,
  openUrl,
  ui,
}: Deciders & { readonly ui?: ExtensionUiHandlers | undefined }): string[] {
  const answersQuestions = answerQuestions !== undefined || ui?.select !== undefined;
  return [
    "tool_approval",
    "budget",
    ...(credentials === undefined ? [] : ["credential"]),
    ...(answersQuestions ? ["question"] : []),
    ...(answerElicitation === undefined ? [] : ["elicitation"]),
    ...(openUrl === undefined ? [] : ["open_url"]),
  ];
}

export interface HostRequestHandlerOptions extends Deciders {
  /** Handlers for requests that have no function of their own. */
  readonly ui: ExtensionUiHandlers;
  readonly send: (response: HostResponse) => void;
  readonly sessionId?: string | undefined;
}

export class HostRequestHandler {
  readonly #options: HostRequestHandlerOptions;
  readonly #decisions: Decisions;
  /** The ids of questions that are shown as dialogs. */
  readonly #shown = new Set<string>();

  constructor(options: HostRequestHandlerOptions) {
    this.#options = options;
    this.#decisions = new Decisions(options, options.send, options.sessionId);
  }

  open(request: HostRequestFrame): void {
    if (!this.#decisions.open(request)) void this.#show(request);
  }

  close(resolved: HostRequestResolved): void {
    this.#decisions.close(resolved);
    this.#shown.delete(resolved.id);
  }

  refuse(id: string, message: string): void {
    this.#decisions.refuse(id, message);
  }

  end(): void {
    this.#decisions.end();
  }

  /** Shows the request as a dialog, if this client can. */
  async #show(request: HostRequestFrame): Promise<void> {
    const { ui, send, sessionId } = this.#options;
    const { id } = request;
    try {
      if (request.method === "question") {
        await this.#showQuestions(request);
        return;
      }
      const dialog = asDialog(request, Date.now());
      const answer = dialog && (await answerUiRequest(dialog, ui, sessionId));
      if (answer === undefined)
        send({ type: "host_response", id, error: { message: "not shown" } });
      else send({ type: "host_response", id, result: resultOfDialog(request, answer) });
    } catch (error) {
      send({ type: "host_response", id, error: { message: String(error) } });
    }
  }
  /** Shows one dialog after the other, until all questions are answered or the request has ended. */
  async #showQuestions(request: QuestionHostRequest): Promise<void> {
    const { ui, send, sessionId } = this.#options;
    const { id } = request;
    if (this.#shown.has(id)) return;
    this.#shown.add(id);
    const dialogs = new QuestionDialogs(request);
    while (this.#shown.has(id)) {
      const answer = await answerUiRequest(dialogs.dialog(Date.now()), ui, sessionId);
      const result = dialogs.answer(answer ?? { cancelled: true });
      if (result === undefined) continue;
      if (this.#shown.delete(id)) send({ type: "host_response", id, result });
    }
  }
}

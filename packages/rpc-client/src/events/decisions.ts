import type {
  AnswerElicitation,
  AnswerQuestions,
  Approve,
  GetCredentials,
  HostRequestFrame,
  HostRequestResolved,
  HostResponse,
  OpenUrl,
  RaiseBudget,
} from "@tau-agent/rpc-protocol";
import { deciderOf } from "@tau-agent/rpc-protocol/plain";

export interface Deciders {
  /**
   * Decides about tool calls that need an approval. Without it, they are shown as a select dialog with
   * `ui.select`, or denied if there is none.
   */
  readonly approve?: Approve | undefined;
  /**
   * Decides about exhausted limits, if `onExceeded` is `ask`. Without it, they are shown as a select dialog
   * with `ui.select`, or the work stops if there is none.
   */
  readonly raiseBudget?: RaiseBudget | undefined;
  /**
   * Answers the model's questions from `ask_user`. Without it, they are shown as dialogs with `ui.select` and
   * `ui.input`; without those, the model has no such tool.
   */
  readonly answerQuestions?: AnswerQuestions | undefined;
  /** Answers the questions of MCP servers. Without it, the servers learn that nobody can be asked. */
  readonly answerElicitation?: AnswerElicitation | undefined;
  /** Opens pages, such as login pages. Without it, logins that need a page are not available. */
  readonly openUrl?: OpenUrl | undefined;
  /**
   * Returns the keys of providers; they take precedence over the environment of the host and its `auth.json`.
   * The host keeps them only in memory.
   */
  readonly credentials?: GetCredentials | undefined;
}

export class Decisions {
  readonly #deciders: Deciders;
  readonly #send: (response: HostResponse) => void;
  readonly #sessionId: string | undefined;
  readonly #open = new Map<string, AbortController>();

  /** @param sessionId - the session that asks, if the client has several */
  constructor(deciders: Deciders, send: (response: HostResponse) => void, sessionId?: string) {
    this.#deciders = deciders;
    this.#send = send;
    this.#sessionId = sessionId;
  }

  /**
   * Asks about a request, unless it is a repetition of one that is already being decided.
   *
   * @returns false if there is no function for it
   */
  open(request: HostRequestFrame): boolean {
    const { id } = request;
    if (this.#open.has(id)) return true;
    const controller = new AbortController();
    const { signal } = controller;
    const decision = this.#decide(request, signal);
    if (decision === undefined) return false;
    this.#open.set(id, controller);
    void answerOf(decision).then((answer) => {
      if (!signal.aborted) this.#send({ type: "host_response", id, ...answer });
    });
    return true;
  }

  close(resolved: HostRequestResolved): void {
    this.#open.get(resolved.id)?.abort(resolved);
    this.#open.delete(resolved.id);
  }

  /** The host has refused the answer, so the request is answered with no. */
  refuse(id: string, message: string): void {
    if (this.#open.has(id)) this.#send({ type: "host_response", id, error: { message } });
  }

  end(): void {
    for (const controller of this.#open.values()) controller.abort();
    this.#open.clear();
  }

  #decide(request: HostRequestFrame, signal: AbortSignal): Promise<unknown> | undefined {
    const decider = deciderOf(this.#deciders, request.method);
    if (decider !== undefined) return decider({ ...request, sessionId: this.#sessionId }, signal);
    const { credentials } = this.#deciders;
    if (request.method !== "credential" || credentials === undefined) return undefined;
    return (async () => (await credentials(request.params)) ?? {})();
  }
}

async function answerOf(
  decision: Promise<unknown>,
): Promise<Pick<HostResponse, "result" | "error">> {
  try {
    const result = await decision;
    return result === undefined ? { error: { message: "there was no decision" } } : { result };
  } catch (error) {
    return { error: { message: error instanceof Error ? error.message : String(error) } };
  }
}

import { type HostRequests, readToolResult } from "@tau-agent/coding-agent";
import type {
  ExtensionUiResponse,
  HostAnswer,
  HostRequestMethod,
  HostRequestResolved,
  OpenHostRequest,
  WorkRequest,
} from "@tau-agent/rpc-protocol";
import {
  isWork,
  QuestionDialogs,
  type QuestionHostRequest,
  requestOfDialog,
  type WorkMethod,
} from "@tau-agent/rpc-protocol/plain";
import { RequestError, SparseMap, SparseSet } from "@tau-agent/system";
import type { Connection } from "./connection.ts";

/** The methods that a client has declared to answer; `true` for all. */
export type AnsweredMethods = true | readonly string[];

const noContent = {
  field: "result.content",
  reason: "expected a list of text and image blocks; the call has ended as an error",
};

type Form = "request" | "dialog" | WorkMethod;

const cancelTypes = { host_tool: "host_tool_cancel", host_uri: "host_uri_cancel" } as const;

/**
 * Passes a session's requests to its client: as `host_request` if the client has declared the method,
 * otherwise as a dialog of its dialect.
 */
export class ClientRequests {
  readonly #connection: Connection;
  readonly #requests: HostRequests;
  readonly #forms = new SparseMap<string, Form>();
  /** Questions that this client receives as dialogs, one at a time. */
  readonly #questions = new SparseMap<string, QuestionDialogs>();
  #answered: AnsweredMethods | undefined;
  /** The kinds of work that the client does for the session. */
  readonly works = new SparseSet<WorkMethod>();

  constructor(connection: Connection, requests: HostRequests) {
    this.#connection = connection;
    this.#requests = requests;
  }

  /** Sets the methods that the client answers; undefined if it does not know host requests. */
  set answered(answered: AnsweredMethods | undefined) {
    this.#answered = answered;
  }

  answers(method: HostRequestMethod): boolean {
    return this.#formOf(method) !== undefined;
  }

  open(request: OpenHostRequest): boolean {
    const form = this.#formOf(request.method);
    if (form === undefined) return false;
    if (isWork(request)) return this.#order(request);
    if (form === "request") this.#connection.sendRequest({ type: "host_request", ...request });
    else if (!this.#openDialog(request)) return false;
    this.#forms.set(request.id, form);
    return true;
  }

  get hearsEnds(): boolean {
    return (
      this.#answered !== undefined || this.#connection.dialect.requestDialogs?.reportsEnd === true
    );
  }

  /** `isOwn`: this client gave the answer. */
  closed({ id, method }: OpenHostRequest, resolved: HostRequestResolved, isOwn: boolean): void {
    const form = this.#forms.get(id);
    // The dialog of the current question has a different id than the request.
    const dialogId = this.#questions.get(id)?.id ?? id;
    this.#forms.delete(id);
    this.#questions.delete(id);
    if (form === "request") this.#connection.sendRequest(resolved);
    if ((form === "host_tool" || form === "host_uri") && !isOwn) {
      const type = cancelTypes[form];
      this.#connection.sendRequest({ type, id: crypto.randomUUID(), targetId: id });
    }
    if (form !== "dialog" || isOwn) return;
    const { dialect, isInitialized } = this.#connection;
    // Before `initialize`, dialogs of extensions contain exactly what their document shows.
    if (method === "dialog" && !isInitialized) return;
    if (dialect.requestDialogs?.reportsEnd) {
      this.#connection.sendRequest({ ...resolved, id: dialogId });
    }
  }

  /**
   * Takes an answer from the client.
   *
   * @throws {RequestError} if it is refused
   */
  answer(answer: HostAnswer): void {
    const { id } = answer;
    switch (answer.type) {
      case "host_tool_update":
        this.#requests.update(id, answer.partialResult);
        break;
      case "host_tool_result": {
        const { result, isError } = answer;
        this.#requests.answer(id, { result: { result, isError } });
        // The call has ended with an error; the client receives the reason.
        if (readToolResult(result) === undefined) throw RequestError.invalid(id, noContent);
        break;
      }
      case "host_uri_result": {
        const { type: _, id: __, ...result } = answer;
        this.#requests.answer(id, { result });
        break;
      }
      default: {
        const { error, result } = answer;
        this.#requests.answer(id, error === undefined ? { result } : { error: error.message });
      }
    }
  }

  /** Takes the answer to a dialog; one for an unknown or closed dialog is ignored. */
  answerDialog({ id, ...response }: ExtensionUiResponse): void {
    const request = this.#requests.get(id) ?? this.#requests.get(requestOfDialog(id));
    if (request === undefined || isWork(request)) return;
    if (request.method === "question") {
      this.#answerQuestion(request, id, response);
      return;
    }
    const { resultOfDialog } = this.#connection.dialect.requestDialogs ?? {};
    if (resultOfDialog === undefined) return;
    this.#requests.answer(id, { result: resultOfDialog(request, response) });
  }

  /** A request that the client already works on is not sent again. */
  #order({ id, toolCallId = "", agentId, ...request }: WorkRequest): boolean {
    if (this.#forms.has(id)) return true;
    this.#forms.set(id, request.method);
    const caller = agentId === undefined ? {} : { agentId };
    if (request.method === "host_uri") {
      this.#connection.sendRequest({ type: "host_uri_request", id, ...caller, ...request.params });
      return true;
    }
    const call = { toolCallId, ...caller, ...request.params };
    this.#connection.sendRequest({ type: "host_tool_call", id, ...call });
    return true;
  }

  /** Opens the next dialog or gives the answer; an answer to a dialog that is already answered is ignored. */
  #answerQuestion(
    request: QuestionHostRequest,
    id: string,
    response: Omit<ExtensionUiResponse, "type" | "id">,
  ): void {
    const dialogs = this.#questions.get(request.id);
    if (dialogs?.id !== id) return;
    const result = dialogs.answer(response);
    if (result === undefined) this.#connection.ask(dialogs.dialog(Date.now()));
    else this.#requests.answer(request.id, { result });
  }

  #openDialog(request: OpenHostRequest): boolean {
    if (request.method === "question") {
      const dialogs = this.#questions.get(request.id) ?? new QuestionDialogs(request);
      this.#questions.set(request.id, dialogs);
      return this.#connection.ask(dialogs.dialog(Date.now()));
    }
    const { asDialog, notices = [] } = this.#connection.dialect.requestDialogs ?? {};
    const dialog = asDialog?.(request, Date.now());
    if (dialog === undefined || !this.#connection.ask(dialog)) return false;
    if (notices.includes(request.method)) queueMicrotask(() => this.#noted(request.id));
    return true;
  }

  #noted(id: string): void {
    // Another client may have answered first.
    if (this.#requests.get(id) !== undefined) this.#requests.answer(id, { result: {} });
  }

  /** Whether the client has declared the method by name if it is one that older clients may not know. */
  #isNamed(method: HostRequestMethod): boolean {
    if (this.#answered === true) return method !== "credential" && method !== "question";
    return this.#answered?.includes(method) === true;
  }

  #formOf(method: HostRequestMethod): Form | undefined {
    if (method === "host_tool" || method === "host_uri") {
      return this.works.has(method) ? method : undefined;
    }
    if (this.#isNamed(method)) return "request";
    if (!this.#connection.dialect.requestDialogs?.methods.includes(method)) return undefined;
    return this.#answered === undefined || method === "dialog" ? "dialog" : undefined;
  }
}

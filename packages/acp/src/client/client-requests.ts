import type { AgentContext, ClientCapabilities } from "@agentclientprotocol/sdk";
import type { AgentSession, ApprovalParams, RequestSink } from "@tau-agent/coding-agent";
import type { HostRequestMethod, PendingRequest } from "@tau-agent/rpc-protocol";
import { isWork } from "@tau-agent/rpc-protocol/plain";
import { RequestError } from "@tau-agent/system";
import { elicitationOf, elicitedResult } from "../mapping/elicitation.ts";
import { askedCall, permissionAnswer, permissionOptions } from "../mapping/permission.ts";
import {
  formAnswers,
  questionCall,
  questionForm,
  questionOptions,
} from "../mapping/question-form.ts";
import { untilAborted } from "./client-files.ts";

export interface QuestionPlace {
  readonly client: AgentContext;
  readonly capabilities: ClientCapabilities | undefined;
  readonly sessionId: string;
  readonly session: Pick<AgentSession, "requests" | "permissions" | "previewChange">;
  /** Sends all earlier updates and the call, and returns the client's id of the call. */
  readonly callShown: (request: ApprovalRequest, signal: AbortSignal) => Promise<string>;
  /** The client's id of a call; undefined if the client does not know the call. */
  readonly idOfCall: (toolCallId: string) => string | undefined;
  readonly onDecided: (request: ApprovalRequest, isAllowed: boolean) => void;
}

/** Asks whether a tool may run. */
export type ApprovalRequest = Extract<PendingRequest, { method: "tool_approval" }>;

type QuestionRequest = Extract<PendingRequest, { method: "question" }>;

/** Forwards the session's questions to the client: permissions, and dialogs as forms. */
export class ClientRequests implements RequestSink {
  readonly #place: QuestionPlace;
  readonly #open = new Map<string, AbortController>();
  /** The client's ids of open pages, by server and the server's own id. */
  readonly #pages = new Map<string, string>();

  constructor(place: QuestionPlace) {
    this.#place = place;
  }

  answers(method: HostRequestMethod): boolean {
    if (method === "tool_approval" || method === "question") return true;
    // No editor has a form for entering keys.
    if (isWork({ method }) || method === "credential") return false;
    const { form, url } = this.#place.capabilities?.elicitation ?? {};
    if (method === "elicitation") return form != null || url != null;
    return (method === "open_url" ? url : form) != null;
  }

  open(request: PendingRequest): boolean {
    if (request.method === "elicitation" && !this.#shows(request.params.mode)) return false;
    if (this.#open.has(request.id)) return true;
    const controller = new AbortController();
    this.#open.set(request.id, controller);
    // Deferred: an immediate answer would arrive before the request is fully open.
    queueMicrotask(() => void this.#ask(request, controller.signal));
    return true;
  }

  closed(request: PendingRequest, { outcome }: { readonly outcome: string }): void {
    this.#open.get(request.id)?.abort();
    this.#open.delete(request.id);
    if (request.method === "tool_approval") this.#place.onDecided(request, outcome === "allow");
  }

  /** Tells the client that the user is done with a server's page; without an id, the page was the login. */
  completed(server: string, elicitationId?: string): void {
    const key = pageKey(server, elicitationId);
    const id = this.#pages.get(key);
    if (id === undefined) return;
    this.#pages.delete(key);
    void this.#place.client.notify("elicitation/complete", { elicitationId: id }).catch(() => {});
  }

  async #ask(request: PendingRequest, signal: AbortSignal): Promise<void> {
    let answer: { result: unknown } | { error: string };
    try {
      answer = { result: await this.#resultOf(request, signal) };
    } catch (error) {
      answer = { error: error instanceof Error ? error.message : String(error) };
    }
    this.#answer(request.id, answer);
  }

  #resultOf(request: PendingRequest, signal: AbortSignal): Promise<unknown> {
    if (request.method === "tool_approval") return this.#permission(request, signal);
    if (request.method !== "question") return this.#elicit(request, signal);
    return this.#shows("form") ? this.#fillIn(request, signal) : this.#choose(request, signal);
  }

  #answer(id: string, answer: { result: unknown } | { error: string }): void {
    const { requests } = this.#place.session;
    if (requests.get(id) === undefined) return;
    try {
      requests.answer(id, answer);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      requests.answer(id, { error: error.message });
    }
  }

  async #permission(request: ApprovalRequest, signal: AbortSignal): Promise<unknown> {
    const { client, sessionId, session, callShown } = this.#place;
    const { params } = request;
    const change = await session.previewChange(params.toolName, params.input);
    const toolCallId = await callShown(request, signal);
    if (signal.aborted) return { decision: "deny" };
    const isManaged = session.permissions.state.ceiling !== undefined;
    const options = permissionOptions(params, isManaged);
    const { outcome } = await client.request(
      "session/request_permission",
      { sessionId, toolCall: askedCall(params, { toolCallId, change }), options },
      untilAborted(signal),
    );
    const { result, deniesFromNowOn } = permissionAnswer(outcome, options);
    if (deniesFromNowOn) this.#denyFromNowOn(params);
    return result;
  }

  /** Asks all questions in one form. */
  async #fillIn({ params, toolCallId }: QuestionRequest, signal: AbortSignal): Promise<unknown> {
    const { client, sessionId, idOfCall } = this.#place;
    const shownCall = toolCallId && idOfCall(toolCallId);
    const answer = await client.request(
      "elicitation/create",
      {
        sessionId,
        mode: "form",
        ...(shownCall ? { toolCallId: shownCall } : {}),
        ...questionForm(params),
      },
      untilAborted(signal),
    );
    return formAnswers(params, answer);
  }

  /** Asks one question after the other, in the permission dialog. */
  async #choose({ id, params, toolCallId }: QuestionRequest, signal: AbortSignal) {
    const { client, sessionId, idOfCall } = this.#place;
    const shownCall = toolCallId && idOfCall(toolCallId);
    const answers: { labels: string[] }[] = [];
    for (const question of params.questions) {
      const toolCall = questionCall(question, shownCall || id);
      const { outcome } = await client.request(
        "session/request_permission",
        { sessionId, toolCall, options: questionOptions(question) },
        untilAborted(signal),
      );
      const chosen = outcome.outcome === "selected" ? Number(outcome.optionId) : Number.NaN;
      const label = question.options[chosen]?.label;
      if (label === undefined) return { cancelled: true };
      answers.push({ labels: [label] });
    }
    return { answers };
  }

  #denyFromNowOn({ suggestions }: ApprovalParams): void {
    const rules = suggestions.map((rule) => ({ ...rule, action: "deny" as const }));
    this.#place.session.permissions.add(rules);
  }

  #shows(mode: "form" | "url"): boolean {
    return this.#place.capabilities?.elicitation?.[mode] != null;
  }

  async #elicit(request: PendingRequest, signal: AbortSignal): Promise<unknown> {
    const { client, sessionId, idOfCall } = this.#place;
    const elicitation = elicitationOf(request);
    if (elicitation === undefined) throw new Error("This cannot be asked.");
    const toolCallId = request.toolCallId && idOfCall(request.toolCallId);
    const page = elicitation.mode === "url" ? pageOf(request) : undefined;
    // The user may finish with the page before the client confirms that it was opened.
    if (page !== undefined) this.#pages.set(page, request.id);
    let isAccepted = false;
    try {
      const answer = await client.request(
        "elicitation/create",
        { sessionId, ...(toolCallId ? { toolCallId } : {}), ...elicitation },
        untilAborted(signal),
      );
      isAccepted = answer?.action === "accept";
      return elicitedResult(request, answer);
    } finally {
      if (page !== undefined && !isAccepted) this.#pages.delete(page);
    }
  }
}

function pageOf(request: PendingRequest): string | undefined {
  if (request.method === "open_url") return pageKey(request.params.server ?? "");
  if (request.method !== "elicitation") return undefined;
  const { server, elicitationId } = request.params;
  return elicitationId === undefined ? undefined : pageKey(server, elicitationId);
}

function pageKey(server: string, elicitationId?: string): string {
  return JSON.stringify([server, elicitationId]);
}

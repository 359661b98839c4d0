import type {
  BudgetParams,
  BudgetResult,
  CredentialParams,
  ElicitationParams,
  OpenUrlParams,
  QuestionParams,
  QuestionResult,
} from "./host-request.ts";
import type { ApprovalParams, ApprovalResult } from "./permission.ts";

/** What a handler receives besides the parameters of a request. */
export interface AskedRequest {
  readonly id: string;
  /** The session that asks, if the client has several. */
  readonly sessionId?: string | undefined;
  readonly toolCallId?: string | undefined;
  readonly promptId?: string | undefined;
  /** The subagent that asks; nested ones are joined by `/`. */
  readonly agentId?: string | undefined;
  /** When the host gives up, in ms since the epoch. */
  readonly deadlineAt?: number | undefined;
}

/** The input of an approval handler. */
export interface ApprovalRequest extends ApprovalParams, AskedRequest {}

/**
 * Decides whether a tool may run. A thrown error, or anything but a valid result, denies the call. The signal is
 * aborted when the request has ended in another way; in a client, its reason is the host's `host_request_resolved`.
 */
export type Approve = (
  request: ApprovalRequest,
  context: { readonly signal: AbortSignal },
) => ApprovalResult | Promise<ApprovalResult>;

/** The input of a budget handler. */
export interface BudgetRequest extends BudgetParams, AskedRequest {}

/**
 * Decides whether an exhausted limit is raised: `{limit}` above the current usage, or `{stop: true}`. A
 * thrown error, or anything else, stops the work. The signal is aborted as in {@link Approve}.
 */
export type RaiseBudget = (
  request: BudgetRequest,
  context: { readonly signal: AbortSignal },
) => BudgetResult | Promise<BudgetResult>;

/** The input of a handler for the model's questions. */
export interface QuestionRequest extends QuestionParams, AskedRequest {}

/**
 * Answers the model's questions: for each question labels, a text or both, or `{cancelled: true}`. A thrown
 * error, or anything else, counts as no answer. The signal is aborted as in {@link Approve}.
 */
export type AnswerQuestions = (
  request: QuestionRequest,
  context: { readonly signal: AbortSignal },
) => QuestionResult | Promise<QuestionResult>;

/** The input of a handler for an MCP server's questions. */
export interface ElicitationRequest extends ElicitationParams, AskedRequest {}

/** The answer to an MCP server; `content` contains the values of a form. */
export interface ElicitationResult {
  readonly action: "accept" | "decline" | "cancel";
  readonly content?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Answers a question of an MCP server. A thrown error, or anything else, counts as no answer. The signal is
 * aborted as in {@link Approve}.
 */
export type AnswerElicitation = (
  request: ElicitationRequest,
  context: { readonly signal: AbortSignal },
) => ElicitationResult | Promise<ElicitationResult>;

/** The input of a handler that opens a page for the user. */
export interface OpenUrlRequest extends OpenUrlParams, AskedRequest {}

/**
 * Opens a page, such as a login page, or shows its address. A thrown error counts as not opened. The signal
 * is aborted as in {@link Approve}.
 */
export type OpenUrl = (
  request: OpenUrlRequest,
  context: { readonly signal: AbortSignal },
) => void | Promise<void>;

/** The credential of a provider. */
export interface GivenCredentials {
  readonly apiKey?: string | undefined;
  /** Headers to send with requests, in addition to the key or instead of it. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** When to ask for it again, in ms since the epoch. */
  readonly expiresAt?: number | undefined;
}

/**
 * Returns the key of a provider, which takes precedence over the environment and `auth.json`; these are used if the
 * answer has neither a key nor headers. The answer is kept in memory until `expiresAt`. The time limit is 30 s.
 */
export type GetCredentials = (
  asked: CredentialParams,
) => GivenCredentials | undefined | Promise<GivenCredentials | undefined>;

/** Handlers for the requests of a host. */
export interface Deciders {
  readonly approve?: Approve | undefined;
  readonly raiseBudget?: RaiseBudget | undefined;
  readonly answerQuestions?: AnswerQuestions | undefined;
  readonly answerElicitation?: AnswerElicitation | undefined;
  readonly openUrl?: OpenUrl | undefined;
}

type Decider = (request: object, context: { readonly signal: AbortSignal }) => unknown;

interface Row {
  readonly name: keyof Deciders;
  /** The result if the handler returns nothing. */
  readonly done?: object;
}

const rows: { readonly [Method in string]?: Row } = {
  tool_approval: { name: "approve" },
  budget: { name: "raiseBudget" },
  question: { name: "answerQuestions" },
  elicitation: { name: "answerElicitation" },
  open_url: { name: "openUrl", done: {} },
};

/** The handler for requests of a method; it receives their parameters and the members of {@link AskedRequest}. */
export function deciderOf(deciders: Deciders, method: string) {
  const row = Object.hasOwn(rows, method) ? rows[method] : undefined;
  const decider = row && (deciders[row.name] as Decider | undefined);
  if (decider === undefined) return undefined;
  type Request = AskedRequest & { readonly params: object };
  return async (request: Request, signal: AbortSignal): Promise<unknown> => {
    const { id, sessionId, toolCallId, promptId, agentId, deadlineAt } = request;
    const asked = { id, sessionId, toolCallId, promptId, agentId, deadlineAt };
    return (await decider({ ...request.params, ...asked }, { signal })) ?? row?.done;
  };
}

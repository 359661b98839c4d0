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

/** What a function learns of a request besides its parameters. */
export interface AskedRequest {
  readonly id: string;
  /** The session that asks, for a client of many. */
  readonly sessionId?: string | undefined;
  readonly toolCallId?: string | undefined;
  readonly promptId?: string | undefined;
  /** The subagent that asks; nested ones are joined by `/`. */
  readonly agentId?: string | undefined;
  /** When the host gives up, in ms since the epoch. */
  readonly deadlineAt?: number | undefined;
}

/** An approval as a function gets it. */
export interface ApprovalRequest extends ApprovalParams, AskedRequest {}

/**
 * Decides whether a tool may run. What it throws, and anything but a result, denies. The signal is
 * aborted when the question has ended in another way; in a client, its reason is the host's
 * `host_request_resolved`.
 */
export type Approve = (
  request: ApprovalRequest,
  context: { readonly signal: AbortSignal },
) => ApprovalResult | Promise<ApprovalResult>;

/** A used-up limit as a function gets it. */
export interface BudgetRequest extends BudgetParams, AskedRequest {}

/**
 * Decides whether a used-up limit is raised: `{limit}` above what has been used, or `{stop: true}`. What
 * it throws, and anything else, stops the work. The signal is aborted as that of {@link Approve}.
 */
export type RaiseBudget = (
  request: BudgetRequest,
  context: { readonly signal: AbortSignal },
) => BudgetResult | Promise<BudgetResult>;

/** Questions of the model as a function gets them. */
export interface QuestionRequest extends QuestionParams, AskedRequest {}

/**
 * Answers what the model asks: for each question labels, a text or both, or `{cancelled: true}`. What it
 * throws, and anything else, counts as no answer. The signal is aborted as that of {@link Approve}.
 */
export type AnswerQuestions = (
  request: QuestionRequest,
  context: { readonly signal: AbortSignal },
) => QuestionResult | Promise<QuestionResult>;

/** What an MCP server asks, as a function gets it. */
export interface ElicitationRequest extends ElicitationParams, AskedRequest {}

/** The answer to an MCP server; `content` has the values of a form. */
export interface ElicitationResult {
  readonly action: "accept" | "decline" | "cancel";
  readonly content?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Answers what an MCP server asks. What it throws, and anything else, counts as no answer. The signal is
 * aborted as that of {@link Approve}.
 */
export type AnswerElicitation = (
  request: ElicitationRequest,
  context: { readonly signal: AbortSignal },
) => ElicitationResult | Promise<ElicitationResult>;

/** A page for the user as a function gets it. */
export interface OpenUrlRequest extends OpenUrlParams, AskedRequest {}

/**
 * Opens a page, such as that of a login, or shows its address. What it throws counts as not opened. The signal
 * is aborted as that of {@link Approve}.
 */
export type OpenUrl = (
  request: OpenUrlRequest,
  context: { readonly signal: AbortSignal },
) => void | Promise<void>;

/** The key of a provider. */
export interface GivenCredentials {
  readonly apiKey?: string | undefined;
  /** Headers to send with requests, beside the key or instead of it. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** When it has to be asked for again, in ms since the epoch. */
  readonly expiresAt?: number | undefined;
}

/**
 * Gives the key of a provider, before the environment and `auth.json` are looked at; without a key and
 * headers in its answer, they are. The answer is kept in memory until `expiresAt`. It has 30 s.
 */
export type GetCredentials = (
  asked: CredentialParams,
) => GivenCredentials | undefined | Promise<GivenCredentials | undefined>;

/** Functions that decide what a host asks. */
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
  /** The result when the function returns nothing. */
  readonly done?: object;
}

const rows: { readonly [Method in string]?: Row } = {
  tool_approval: { name: "approve" },
  budget: { name: "raiseBudget" },
  question: { name: "answerQuestions" },
  elicitation: { name: "answerElicitation" },
  open_url: { name: "openUrl", done: {} },
};

/** The function that decides requests of a method; it gets their parameters and what {@link AskedRequest} has. */
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

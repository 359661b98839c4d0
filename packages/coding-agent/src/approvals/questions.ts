import type { AgentTool } from "@tau-agent/agent";
import type {
  ApprovalParams,
  ApprovalRequest,
  ApprovalResult,
  PermissionRule,
} from "@tau-agent/rpc-protocol";
import type { ToolCall } from "@tau-agent/rpc-protocol/messages";
import { titleOfCall } from "@tau-agent/rpc-protocol/plain";
import {
  type ClosedBy,
  type ClosedRequest,
  type HostRequests,
  randomUuid,
  type ToolEnvironment,
  Withdrawal,
} from "@tau-agent/system";
import type { Verdict } from "../permissions/rules/judge.ts";
import { describeRule } from "../permissions/rules/rule.ts";
import type { SessionPermissions } from "../permissions/session-permissions.ts";
import type { ApprovalLog } from "./approval-log.ts";
import { readApprovalResult } from "./approval-result.ts";
import { placeOfCall } from "./place-of-call.ts";

type SaveTo = "user" | "project";

export interface QuestionsOptions {
  readonly permissions: SessionPermissions;
  readonly requests: HostRequests;
  readonly environment: ToolEnvironment;
  readonly log: ApprovalLog;
  readonly isProjectTrusted: () => boolean;
  /** Saves rules to a settings file, or reports why it cannot. */
  readonly saveRules: (rules: readonly PermissionRule[], saveTo: SaveTo) => Promise<void>;
  readonly promptId: () => string | undefined;
}

export interface Question {
  readonly call: ToolCall;
  readonly tool: AgentTool;
  readonly signal: AbortSignal;
  /** The id of the question if an earlier host already asked it. */
  readonly requestId: string | undefined;
  /** The number of withdrawals when the call began. */
  readonly withdrawals: number;
  readonly verdict: Verdict;
  readonly path: string | undefined;
  readonly checkInput: (input: Record<string, unknown>) => void;
  readonly judgeAgain: () => Verdict;
}

export interface AnsweredApproval {
  readonly decision: "allow" | "deny";
  readonly by: ClosedBy;
  readonly message?: string | undefined;
  /** Whether the program that was asked failed. */
  readonly isFailed?: boolean | undefined;
  /** The arguments to run the tool with, if the answer changed them. */
  readonly input?: Record<string, unknown> | undefined;
  readonly endsRun: boolean;
  /** Whether the host is ending, so that the question stays open in the file. */
  readonly isSuspended: boolean;
}

type ClosedApproval = ClosedRequest<ApprovalResult>;

export class Questions {
  readonly #options: QuestionsOptions;
  /** Functions that judge the calls of open questions again. */
  readonly #open = new Map<string, () => Verdict>();
  readonly #count: { readonly withdrawals: number };

  /** @param count - how often all questions have been withdrawn; changes over time */
  constructor(options: QuestionsOptions, count: { readonly withdrawals: number }) {
    this.#options = options;
    this.#count = count;
    options.permissions.onChange(() => this.#review());
  }

  get hasOpen(): boolean {
    return this.#open.size > 0;
  }

  async ask(question: Question): Promise<AnsweredApproval> {
    const { requests, log, permissions, promptId } = this.#options;
    const { call, signal, judgeAgain } = question;
    const params = await this.#paramsOf(question);
    const toolCallId = call.id;
    if (question.withdrawals !== this.#count.withdrawals && !requests.isEnded) {
      return this.#takenBack(question);
    }
    const now = judgeAgain();
    const isStillAsked = now.action === "ask" || question.requestId !== undefined;
    if (!isStillAsked) return this.#settled(toolCallId, now.action === "allow");
    const isAnswered = requests.isAnswered("tool_approval");
    if (requests.isEnded) return suspended;
    const id = question.requestId ?? randomUuid();
    const prompt = promptId();
    if (question.requestId === undefined && isAnswered) {
      const { name: toolName, arguments: input } = call;
      log.asked({ requestId: id, toolCallId, promptId: prompt, toolName, input });
      await log.kept();
    }
    this.#open.set(id, judgeAgain);
    const { onTimeout, timeoutMs } = permissions.state;
    const closed = await requests
      .ask<ApprovalResult>({
        id,
        method: "tool_approval",
        params,
        promptId: prompt,
        toolCallId,
        onTimeout,
        timeoutMs,
        signal,
        unanswered: "deny",
        read: (result) =>
          readApprovalResult(result, {
            checkInput: question.checkInput,
            isProjectTrusted: this.#options.isProjectTrusted(),
            isManaged: this.#options.permissions.state.ceiling !== undefined,
          }),
      })
      .finally(() => this.#open.delete(id));
    if (closed.by === "end" && requests.isEnded) return suspended;
    const hasEntry = isAnswered || question.requestId !== undefined;
    return this.#conclude(closed, {
      toolCallId,
      requestId: hasEntry ? id : undefined,
      suggestions: params.suggestions,
      endsRun: closed.by === "timeout" && onTimeout === "cancel",
    });
  }

  /** Asks on behalf of a subagent. Rules that the answer adds apply to this session, too. */
  async askForSubagent(
    agentId: string,
    request: ApprovalRequest,
    signal: AbortSignal,
  ): Promise<ApprovalResult> {
    const { requests, log, permissions, isProjectTrusted } = this.#options;
    const {
      id: _,
      toolCallId = "",
      promptId: __,
      agentId: nested,
      deadlineAt: ___,
      ...params
    } = request;
    const agent = nested === undefined ? agentId : `${agentId}/${nested}`;
    const requestId = randomUuid();
    const isAnswered = requests.isAnswered("tool_approval");
    const { toolName, input } = params;
    const common = { toolCallId, agentId: agent, promptId: this.#options.promptId() };
    if (isAnswered) log.asked({ requestId, ...common, toolName, input });
    if (isAnswered) await log.kept();
    const { onTimeout, timeoutMs } = permissions.state;
    const closed = await requests.ask<ApprovalResult>({
      id: requestId,
      method: "tool_approval",
      params,
      ...common,
      onTimeout,
      timeoutMs,
      signal,
      unanswered: "deny",
      read: (result) =>
        readApprovalResult(result, {
          isProjectTrusted: isProjectTrusted(),
          isManaged: permissions.state.ceiling !== undefined,
        }),
    });
    if (requests.isEnded) return { decision: "deny" };
    const answer = await this.#conclude(closed, {
      toolCallId,
      requestId: isAnswered ? requestId : undefined,
      suggestions: params.suggestions,
      endsRun: closed.by === "timeout" && onTimeout === "cancel",
    });
    if (answer.decision === "allow") {
      return { decision: "allow", ...(answer.input === undefined ? {} : { input: answer.input }) };
    }
    const { message = messageFor(answer), endsRun } = answer;
    return { decision: "deny", ...(message === undefined ? {} : { message }), endRun: endsRun };
  }

  /** Denies a question that was withdrawn before it was open. */
  #takenBack({ call, requestId }: Question): AnsweredApproval {
    this.#options.log.answered({ toolCallId: call.id, requestId, decision: "deny", by: "abort" });
    return { decision: "deny", by: "abort", endsRun: false, isSuspended: false };
  }

  /** Records the decision of a rule or mode that changed while the question was prepared. */
  #settled(toolCallId: string, isAllowed: boolean): AnsweredApproval {
    const decision = isAllowed ? "allow" : "deny";
    this.#options.log.answered({ toolCallId, decision, by: "rule" });
    return { decision, by: "rule", endsRun: false, isSuspended: false };
  }

  async #conclude(
    { by, outcome, result, error, isFailed }: ClosedApproval,
    asked: {
      readonly toolCallId: string;
      readonly requestId: string | undefined;
      readonly suggestions: readonly PermissionRule[];
      readonly endsRun: boolean;
    },
  ): Promise<AnsweredApproval> {
    const { toolCallId, requestId } = asked;
    const decision = outcome === "allow" ? "allow" : "deny";
    const allowed = result?.decision === "allow" ? result : undefined;
    const denied = result?.decision === "deny" ? result : undefined;
    const message = denied?.message ?? error;
    const { scope, input } = allowed ?? {};
    this.#options.log.answered({ toolCallId, requestId, decision, by, scope, input, message });
    await this.#options.log.kept();
    if (allowed !== undefined) await this.#keepRules(allowed, asked.suggestions);
    const endsRun = denied?.endRun ?? asked.endsRun;
    return { decision, by, message, isFailed, input, endsRun, isSuspended: false };
  }

  async #keepRules(
    { scope, rules, saveTo = "user" }: Extract<ApprovalResult, { decision: "allow" }>,
    suggestions: readonly PermissionRule[],
  ): Promise<void> {
    if (scope !== "session" && scope !== "always") return;
    const { permissions, saveRules } = this.#options;
    const added = rules ?? suggestions;
    if (added.length === 0) return;
    if (scope === "session") permissions.add(added);
    else await saveRules(added, saveTo);
  }

  async #paramsOf({ call, tool, path, verdict }: Question): Promise<ApprovalParams> {
    const { environment, permissions } = this.#options;
    const { name: toolName, arguments: input } = call;
    const { previewChange } = await import("../tools/preview-change.ts");
    const diff = await previewChange(toolName, input, environment);
    const { parts, suggestions } = verdict;
    return {
      toolName,
      input,
      ...placeOfCall(environment),
      title: titleOfCall({ toolName, input }),
      reason: withClaims(reasonFor(toolName, verdict, permissions.state.mode), tool),
      suggestions: [...suggestions],
      ...(parts === undefined ? {} : { parts: [...parts] }),
      ...(diff === undefined ? {} : { diff }),
      ...(path === undefined ? {} : { path }),
    };
  }

  /** Lets a changed mode or rule answer open questions. */
  #review(): void {
    for (const [id, judgeAgain] of [...this.#open]) {
      const { action } = judgeAgain();
      if (action !== "ask") this.#options.requests.withdraw(id, new Withdrawal("rule", action));
    }
  }
}

const suspended: AnsweredApproval = {
  decision: "deny",
  by: "end",
  endsRun: false,
  isSuspended: true,
};

function withClaims(reason: string, { claims }: AgentTool): string {
  return claims === undefined ? reason : `${reason} ${claims}`;
}

function reasonFor(
  toolName: string,
  { rule, opaque, isAskedByRule }: Verdict,
  mode: string,
): string {
  if (opaque !== undefined) return `The line cannot be judged by its parts: ${opaque}.`;
  if (isAskedByRule && rule !== undefined) return `It is asked because of ${describeRule(rule)}.`;
  return `The permission mode ${mode} does not allow ${toolName} without a question.`;
}

/** The message for a subagent's model if no person gave a reason. */
function messageFor({ by, isFailed }: AnsweredApproval): string | undefined {
  if (isFailed) return "the approval could not be asked for";
  if (by === "nobody") return "nobody is there to approve it";
  return by === "timeout" ? "nobody answered in time" : undefined;
}

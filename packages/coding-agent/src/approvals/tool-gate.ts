import {
  type AgentTool,
  argumentsCheck,
  type BeforeToolCallResult,
  decideToolCall,
  type ToolHooks,
  validateArguments,
} from "@tau-agent/agent";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import type { ToolCall } from "@tau-agent/rpc-protocol/messages";
import type { HostRequests } from "../host-requests/host-requests.ts";
import { subjectsOf } from "../permissions/call-subjects.ts";
import { realPathOf } from "../permissions/real-path.ts";
import { judge, type Verdict } from "../permissions/rules/judge.ts";
import type { RuleFolders, Subject } from "../permissions/rules/subject.ts";
import type { SessionPermissions } from "../permissions/session-permissions.ts";
import type { ToolEnvironment } from "../processes/environment.ts";
import { resolveExistingPath, resolvePath } from "../tools/common/paths.ts";
import type { ApprovalLog } from "./approval-log.ts";
import { deniedByAnswer, deniedByPolicy, resultOfDenial } from "./denial.ts";
import { type AnsweredApproval, Questions, type QuestionsOptions } from "./questions.ts";
import { isAnswerTool, toolTraits } from "./tool-traits.ts";

/** What a {@link ToolGate} works with. */
export interface ToolGateOptions extends Omit<QuestionsOptions, "log"> {
  readonly permissions: SessionPermissions;
  readonly requests: HostRequests;
  readonly environment: ToolEnvironment;
  readonly log: ApprovalLog;
  /** Whether a tool is one of Tau's own. */
  readonly isBuiltIn: (tool: AgentTool) => boolean;
  /** What extensions do around each call. */
  readonly extensions: ToolHooks | undefined;
  /** Ends the run after the results that there are. */
  readonly endRun: () => void;
}

/** A call with what it does. */
interface Judged {
  readonly subjects: readonly Subject[];
  readonly verdict: Verdict;
}

/**
 * What every tool call passes: rules, then extensions, then the question to a person. A call that
 * nobody allows does not run, and says why.
 */
export class ToolGate implements ToolHooks {
  readonly #options: ToolGateOptions;
  readonly #questions: Questions;
  /** Calls that run with other arguments than the model's. */
  readonly #changed = new Map<string, Record<string, unknown>>();
  /** Calls of a reopened session with the ids of their questions. */
  readonly #resumed = new Map<string, string>();
  #isSuspended = false;

  constructor(options: ToolGateOptions) {
    this.#options = options;
    this.#questions = new Questions(options);
  }

  /** Questions of subagents reach the same client. */
  get questions(): Questions {
    return this.#questions;
  }

  /** These calls were asked about before the host ended, and are asked about again. */
  resume(questions: ReadonlyMap<string, string>): void {
    for (const [toolCallId, requestId] of questions) this.#resumed.set(toolCallId, requestId);
  }

  /** The host ends: open questions stay open in the file. */
  suspend(): void {
    this.#isSuspended = this.#questions.hasOpen || this.#resumed.size > 0;
  }

  isSuspended(): boolean {
    return this.#isSuspended;
  }

  async beforeToolCall(
    call: ToolCall,
    tool: AgentTool,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<BeforeToolCallResult | undefined> {
    const { permissions, extensions } = this.#options;
    const requestId = this.#resumed.get(call.id);
    const isFree = permissions.allowsAll || isAnswerTool(tool);
    if (isFree && requestId === undefined) {
      return extensions?.beforeToolCall?.(call, tool, signal);
    }
    const first = await this.#judge(call, tool);
    if (this.#isDenied(first, requestId)) return this.#deny(call, first.verdict);
    const decided = await decideToolCall(extensions, call, { tool, signal });
    if (decided?.block) return decided;
    const wanted = await changedCall(call, tool, decided);
    const last = wanted === call ? first : await this.#judge(wanted, tool);
    if (this.#isDenied(last, requestId)) return this.#deny(call, last.verdict);
    const { action, isAskedByRule } = last.verdict;
    const isAsked = decided?.wasAsked === true && !isAskedByRule;
    if (requestId === undefined && (action === "allow" || isAsked)) return decided;
    return {
      ask: () =>
        this.#ask({ call: wanted, tool, signal, requestId, isChanged: wanted !== call }, last),
    };
  }

  async afterToolCall(
    call: ToolCall,
    result: ToolResult,
  ): Promise<Partial<ToolResult> | undefined> {
    const changes = await this.#options.extensions?.afterToolCall?.(call, result);
    const input = this.#changed.get(call.id);
    if (input === undefined) return changes;
    this.#changed.delete(call.id);
    const text = `The user changed the arguments of this call. It ran with ${JSON.stringify(input)}.`;
    const content = changes?.content ?? result.content;
    return { ...changes, content: [{ type: "text", text }, ...content] };
  }

  /** A question that was asked before is asked again, whatever the mode says now. */
  #isDenied({ verdict }: Judged, requestId: string | undefined): boolean {
    if (verdict.action !== "deny") return false;
    return requestId === undefined || verdict.rule !== undefined;
  }

  #deny(call: ToolCall, { rule }: Verdict): BeforeToolCallResult {
    const { permissions, log } = this.#options;
    const denial = deniedByPolicy(call.name, permissions.state.mode, rule);
    const requestId = this.#resumed.get(call.id);
    this.#resumed.delete(call.id);
    log.answered({ toolCallId: call.id, requestId, decision: "deny", by: denial.by });
    return resultOfDenial(denial);
  }

  async #ask(
    asked: {
      readonly call: ToolCall;
      readonly tool: AgentTool;
      readonly signal: AbortSignal;
      readonly requestId: string | undefined;
      /** An extension has replaced the arguments. */
      readonly isChanged: boolean;
    },
    { subjects, verdict }: Judged,
  ): Promise<BeforeToolCallResult | undefined> {
    const { call, tool } = asked;
    const check = await argumentsCheck(tool);
    const answer = await this.#questions.ask({
      ...asked,
      verdict,
      path: pathOf(subjects),
      checkInput: (input) => void check({ ...call, arguments: input }),
      judgeAgain: () => judge(subjects, this.#policy()),
    });
    if (answer.isSuspended) return { isSuspended: true };
    this.#resumed.delete(call.id);
    if (answer.decision === "deny") return this.#denied(answer);
    return this.#allowed(call, tool, { ...answer, isChanged: asked.isChanged });
  }

  #denied({ by, message, endsRun }: AnsweredApproval): BeforeToolCallResult {
    if (endsRun) this.#options.endRun();
    return resultOfDenial(deniedByAnswer(by, message));
  }

  /** Other arguments than were asked about must not be what a rule denies. */
  async #allowed(
    call: ToolCall,
    tool: AgentTool,
    { input, isChanged }: AnsweredApproval & { readonly isChanged: boolean },
  ): Promise<BeforeToolCallResult> {
    if (input === undefined) return isChanged ? { arguments: call.arguments } : {};
    const wanted = {
      ...call,
      arguments: await validateArguments(tool, { ...call, arguments: input }),
    };
    const { verdict } = await this.#judge(wanted, tool);
    if (verdict.action === "deny" && verdict.rule !== undefined) return this.#deny(call, verdict);
    this.#changed.set(call.id, wanted.arguments);
    return { arguments: wanted.arguments };
  }

  async #judge(call: ToolCall, tool: AgentTool): Promise<Judged> {
    const { environment, isBuiltIn } = this.#options;
    const { cwd, homeDirectory } = environment;
    const base = { cwd, homeDirectory };
    const isOwn = isBuiltIn(tool);
    const judged = { tool: toolTraits(tool, isOwn), input: call.arguments, isBuiltIn: isOwn };
    const subjects = await subjectsOf(judged, {
      ...base,
      resolveOwn: (path) => [
        ...new Set([resolvePath(path, base), resolveExistingPath(path, base)]),
      ],
    });
    return { subjects, verdict: judge(subjects, this.#policy()) };
  }

  #policy() {
    const { permissions, environment } = this.#options;
    const { cwd, homeDirectory } = environment;
    const folders: RuleFolders = { cwd, realCwd: realPathOf(cwd), homeDirectory };
    return permissions.policy(folders);
  }
}

/** The call as extensions leave it. */
async function changedCall(
  call: ToolCall,
  tool: AgentTool,
  decided: BeforeToolCallResult | undefined,
): Promise<ToolCall> {
  if (decided?.arguments === undefined) return call;
  const args = await validateArguments(tool, { ...call, arguments: decided.arguments });
  return { ...call, arguments: args };
}

function pathOf(subjects: readonly Subject[]): string | undefined {
  const [first] = subjects;
  return first?.kind === "path" && subjects.length === 1 ? first.paths.at(-1)?.given : undefined;
}

import {
  type AgentTool,
  argumentsCheck,
  type BeforeToolCallResult,
  type ToolHooks,
  validateArguments,
} from "@tau-agent/agent";
import type { ToolCall } from "@tau-agent/rpc-protocol/messages";
import type { HostRequests, ToolEnvironment } from "@tau-agent/system";
import { subjectsOf } from "../permissions/call-subjects.ts";
import { CompiledPolicy } from "../permissions/compiled-policy.ts";
import { type RealPaths, realPathsIn } from "../permissions/real-paths.ts";
import { ruleFoldersOf } from "../permissions/rule-folders.ts";
import { judge, type Verdict } from "../permissions/rules/judge.ts";
import type { RuleFolders, Subject } from "../permissions/rules/subject.ts";
import type { PermissionState, SessionPermissions } from "../permissions/session-permissions.ts";
import { existingPath, resolvePath } from "../tools/common/paths.ts";
import type { ApprovalLog } from "./approval-log.ts";
import { deniedByAnswer, deniedByPolicy, resultOfDenial } from "./denial.ts";
import { type AnsweredApproval, Questions, type QuestionsOptions } from "./questions.ts";
import { toolTraits } from "./tool-traits.ts";

export interface ToolGateOptions extends Omit<QuestionsOptions, "log"> {
  readonly permissions: SessionPermissions;
  readonly requests: HostRequests;
  readonly environment: ToolEnvironment;
  readonly log: ApprovalLog;
  /** Whether untrusted text came after the last message of a person. */
  readonly isAfterUntrusted: () => boolean;
  readonly isBuiltIn: (tool: AgentTool) => boolean;
  readonly extensions: ToolHooks | undefined;
  /** Whether to ask a person when this machine has no sandbox for a call. */
  readonly asksWithoutSandbox?: boolean;
  readonly endRun: () => void;
}

interface Judged {
  readonly subjects: readonly Subject[];
  readonly verdict: Verdict;
  readonly state: PermissionState;
  readonly isAfterUntrusted: boolean;
  readonly folders: RuleFolders;
}

/** The facts on which a call was allowed to start. */
interface Basis extends Partial<Pick<Judged, "subjects" | "state" | "isAfterUntrusted">> {
  readonly isAllowedByPerson: boolean;
}

export interface GateState {
  /** The calls of a reopened session that have open questions, with the ids of the questions. */
  readonly resumed: Map<string, string>;
  /** How often all questions were withdrawn. */
  withdrawals: number;
}

export interface PassingCall {
  readonly call: ToolCall;
  readonly tool: AgentTool;
  readonly signal: AbortSignal;
  /** The id of the question if an earlier host already asked it. */
  readonly requestId: string | undefined;
  /** The value of {@link GateState.withdrawals} when the call began. */
  readonly withdrawals: number;
}

export class JudgedCalls {
  readonly questions: Questions;
  readonly #options: ToolGateOptions;
  readonly #state: GateState;
  readonly #policies = new CompiledPolicy();
  readonly #realPaths: RealPaths;
  /** Calls whose arguments were changed before they ran. */
  readonly #changed = new Map<string, Record<string, unknown>>();

  constructor(options: ToolGateOptions, state: GateState) {
    this.#options = options;
    this.#state = state;
    this.#realPaths = realPathsIn(options.environment);
    this.questions = new Questions(options, state);
  }

  /** The denial of a call before extensions see it; undefined if it is not denied. */
  async denial({ call, tool, requestId }: PassingCall): Promise<BeforeToolCallResult | undefined> {
    const judged = await this.#judge(call, tool);
    return this.#isDenied(judged, requestId) ? this.#deny(call, judged.verdict) : undefined;
  }

  /** Decides about a call after extensions had their say. */
  async decide(
    passing: PassingCall,
    decided: BeforeToolCallResult | undefined,
  ): Promise<BeforeToolCallResult | undefined> {
    const { call, tool, requestId } = passing;
    const wanted = await changedCall(call, tool, decided);
    const last = await this.#judge(wanted, tool);
    if (this.#isDenied(last, requestId)) return this.#deny(call, last.verdict);
    const { action, isAskedByRule } = last.verdict;
    const isAsked = decided?.wasAsked === true && !isAskedByRule;
    if (requestId === undefined && (action === "allow" || isAsked)) {
      return this.#ready(passing, { ...last, isAllowedByPerson: isAsked }, decided);
    }
    const isChanged = wanted !== call;
    return { ask: () => this.#ask({ ...passing, call: wanted, isChanged }, last) };
  }

  /**
   * Judges a call again right before its tool starts: permissions may have changed, or a path may now lead to another
   * file. A call that a person allowed leads to another question only in the second case.
   */
  async confirm(passing: PassingCall, basis: Basis): Promise<BeforeToolCallResult | undefined> {
    const { state } = this.#options.permissions;
    const isSameState = basis.isAfterUntrusted === this.#isAfterUntrusted(state);
    const isSame = isSameState && basis.state === state;
    if (isSame && basis.subjects?.every(({ kind }) => kind !== "path")) return undefined;
    const { call, tool, requestId } = passing;
    const judged = await this.#judge(call, tool);
    const isSameFile = basis.subjects === undefined || realPaths(basis) === realPaths(judged);
    const { verdict } = judged;
    if (isSameFile && isSameState && basis.state === judged.state) return undefined;
    const isNewMode = basis.state?.mode !== judged.state.mode;
    if (this.#isDenied(judged, isNewMode ? undefined : requestId)) {
      return this.#deny(call, verdict);
    }
    if (verdict.action === "allow" || (basis.isAllowedByPerson && isSameFile)) return undefined;
    return { ask: () => this.#ask({ ...passing, isChanged: false }, judged) };
  }

  #ready(
    passing: PassingCall,
    basis: Basis,
    decided: BeforeToolCallResult | undefined,
  ): BeforeToolCallResult {
    return { ...decided, confirm: (call) => this.confirm({ ...passing, call }, basis) };
  }

  /** The arguments that a call ran with, if a person changed them. */
  takeChanged(toolCallId: string): Record<string, unknown> | undefined {
    const input = this.#changed.get(toolCallId);
    this.#changed.delete(toolCallId);
    return input;
  }

  /** Whether a call is denied. A repeated question is asked again, whatever the mode says now. */
  #isDenied({ verdict }: Judged, requestId: string | undefined): boolean {
    if (verdict.action !== "deny") return false;
    return requestId === undefined || verdict.rule !== undefined || verdict.isDeniedByPolicy;
  }

  #deny(call: ToolCall, { rule }: Verdict): BeforeToolCallResult {
    const { permissions, log } = this.#options;
    const denial = deniedByPolicy(call.name, permissions.state.mode, rule);
    const requestId = this.#state.resumed.get(call.id);
    this.#state.resumed.delete(call.id);
    log.answered({ toolCallId: call.id, requestId, decision: "deny", by: denial.by });
    return resultOfDenial(denial);
  }

  async #ask(
    asked: PassingCall & {
      readonly isChanged: boolean;
    },
    judged: Judged,
  ): Promise<BeforeToolCallResult | undefined> {
    const { call, tool } = asked;
    const { subjects, verdict, folders } = judged;
    const check = await argumentsCheck(tool);
    const answer = await this.questions.ask({
      ...asked,
      verdict,
      path: pathOf(subjects),
      checkInput: (input) => void check({ ...call, arguments: input }),
      judgeAgain: () => this.#verdict(subjects, folders),
    });
    if (answer.isSuspended) return { isSuspended: true };
    this.#state.resumed.delete(call.id);
    if (answer.decision === "deny") return this.#denied(answer);
    return this.#allowed(asked, judged, answer);
  }

  #denied({ by, message, isFailed, endsRun }: AnsweredApproval): BeforeToolCallResult {
    if (endsRun) this.#options.endRun();
    return resultOfDenial(deniedByAnswer(by, message, isFailed));
  }

  /** Runs an allowed call. If the answer changed its arguments, the rules judge them again. */
  async #allowed(
    asked: PassingCall & { readonly isChanged: boolean },
    judged: Judged,
    { input, by }: AnsweredApproval,
  ): Promise<BeforeToolCallResult> {
    const { call, tool, isChanged } = asked;
    const basis = { ...judged, isAllowedByPerson: by === "client" };
    if (input === undefined) {
      return this.#ready(asked, basis, isChanged ? { arguments: call.arguments } : undefined);
    }
    const wanted = {
      ...call,
      arguments: await validateArguments(tool, { ...call, arguments: input }),
    };
    const { verdict, subjects } = await this.#judge(wanted, tool);
    const isDenied = verdict.rule !== undefined || verdict.isDeniedByPolicy;
    if (verdict.action === "deny" && isDenied) return this.#deny(call, verdict);
    this.#changed.set(call.id, wanted.arguments);
    return this.#ready(asked, { ...basis, subjects }, { arguments: wanted.arguments });
  }

  async #judge(call: ToolCall, tool: AgentTool): Promise<Judged> {
    const { environment, isBuiltIn } = this.#options;
    const { cwd, homeDirectory, shellPath } = environment;
    const { workspace, isWindows } = environment;
    const base = { cwd, homeDirectory, workspace, isWindows };
    const copy = environment.copy?.();
    const isOwn = isBuiltIn(tool);
    const judged = { tool: toolTraits(tool, isOwn), input: call.arguments, isBuiltIn: isOwn };
    const [subjects, folders] = await Promise.all([
      subjectsOf(judged, {
        ...base,
        copy,
        shellPath,
        uriOf: (path) => environment.clientUris?.uriOf(path),
        realPaths: this.#realPaths,
        resolveOwn: async (path) => [
          ...new Set(await Promise.all([resolvePath(path, base), existingPath(path, base)])),
        ],
      }),
      ruleFoldersOf(environment, this.#realPaths),
    ]);
    const { state } = this.#options.permissions;
    const isAfterUntrusted = this.#isAfterUntrusted(state);
    const verdict = this.#verdict(subjects, folders);
    return { subjects, state, isAfterUntrusted, folders, verdict };
  }

  #verdict(subjects: readonly Subject[], folders: RuleFolders): Verdict {
    const { state } = this.#options.permissions;
    const policy = this.#policies.of(state, folders);
    return judge(subjects, { ...policy, isAfterUntrusted: this.#isAfterUntrusted(state) });
  }

  /** Computed only if a rule depends on it. */
  #isAfterUntrusted({ rules }: PermissionState): boolean {
    return rules.some((rule) => rule.afterUntrusted) && this.#options.isAfterUntrusted();
  }
}

async function changedCall(
  call: ToolCall,
  tool: AgentTool,
  decided: BeforeToolCallResult | undefined,
): Promise<ToolCall> {
  if (decided?.arguments === undefined) return call;
  const args = await validateArguments(tool, { ...call, arguments: decided.arguments });
  return { ...call, arguments: args };
}

/** The files that a call really accesses, as far as rules know them. */
function realPaths({ subjects = [] }: Pick<Basis, "subjects">): string {
  const paths = subjects.flatMap((subject) => (subject.kind === "path" ? subject.paths : []));
  return JSON.stringify(paths.map(({ real }) => real));
}

function pathOf(subjects: readonly Subject[]): string | undefined {
  const [first] = subjects;
  const path = first?.kind === "path" && subjects.length === 1 ? first.paths.at(-1) : undefined;
  return path?.place ?? path?.given;
}

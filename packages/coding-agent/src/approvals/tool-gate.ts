import {
  type AgentTool,
  type BeforeToolCallResult,
  decideToolCall,
  type ToolHooks,
} from "@tau-agent/agent";
import type { OpenHostRequest } from "@tau-agent/rpc-protocol";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import type { ToolCall } from "@tau-agent/rpc-protocol/messages";
import type { LeaveQuestion, Withdrawal } from "@tau-agent/system";
import { markForeign } from "../foreign-text/fence.ts";
import { ASK_USER } from "../tools/ask-user/definition.ts";
import type { GivenAnswers } from "../tools/ask-user/given-answers.ts";
import type { GateState, JudgedCalls, PassingCall, ToolGateOptions } from "./judged-calls.ts";
import type { PersonQuestions, PersonQuestionsOptions } from "./person-questions.ts";
import type { Questions } from "./questions.ts";

/**
 * The gate for every tool call: first rules, then extensions, then a person's approval. A denied call does not run and
 * reports the reason. The code that judges and asks is loaded with the first call that needs it (row `start`).
 */
export class ToolGate implements ToolHooks {
  readonly #options: ToolGateOptions & PersonQuestionsOptions;
  readonly #state: GateState = { resumed: new Map(), withdrawals: 0 };
  #judged: JudgedCalls | undefined;
  #person: PersonQuestions | undefined;
  #isSuspended = false;

  constructor(options: ToolGateOptions & PersonQuestionsOptions) {
    this.#options = options;
  }

  /** The session's questions; subagents ask through them, too. */
  async questions(): Promise<Questions> {
    return (await this.#load()).questions;
  }

  /**
   * Asks whether a call may run outside of the sandbox. If every call is allowed without a question, it asks only when
   * there is no sandbox.
   */
  async askToLeave(question: LeaveQuestion, signal: AbortSignal): Promise<boolean> {
    const isAsked =
      question.reason === "sandbox_refused"
        ? !this.#options.permissions.allowsAll
        : this.#options.asksWithoutSandbox === true;
    if (!isAsked) return false;
    const { askToLeaveSandbox } = await import("./leave-sandbox.ts");
    return askToLeaveSandbox(this.#options, question, signal);
  }

  /** Withdraws all questions, including those of started calls that are not asked yet. */
  withdraw(withdrawal: Withdrawal): void {
    this.#state.withdrawals += 1;
    this.#options.requests.withdrawAll(
      withdrawal,
      (request) => request.method === "tool_approval" || isOwnQuestion(request),
    );
  }

  /** Marks calls whose questions an earlier host left open, so that they are asked again. */
  resume(questions: ReadonlyMap<string, string>): void {
    for (const [toolCallId, requestId] of questions) this.#state.resumed.set(toolCallId, requestId);
  }

  /** Lets open questions stay open in the file, because the host ends. */
  suspend(): void {
    this.#isSuspended =
      this.#judged?.questions.hasOpen === true ||
      this.#state.resumed.size > 0 ||
      this.#options.requests.pending.some(isOwnQuestion);
  }

  isSuspended(): boolean {
    return this.#isSuspended;
  }

  async beforeToolCall(
    call: ToolCall,
    tool: AgentTool,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<BeforeToolCallResult | undefined> {
    const decided = await this.#admit(call, tool, signal);
    const isQuestion = tool.name === ASK_USER && this.#options.isBuiltIn(tool);
    return isQuestion ? this.#thenAsk(decided, signal) : decided;
  }

  /** Takes a person's answer to an `ask_user` call. */
  takeAnswers(toolCallId: string): GivenAnswers | undefined {
    return this.#person?.takeAnswers(toolCallId);
  }

  /** Adds the model's question to the person as the last step before the tool starts. */
  #thenAsk(
    decided: BeforeToolCallResult | undefined,
    signal: AbortSignal,
  ): BeforeToolCallResult | undefined {
    if (decided?.block || decided?.isSuspended) return decided;
    if (decided?.ask !== undefined) {
      const { ask } = decided;
      return { ...decided, ask: async () => this.#thenAsk(await ask(), signal) };
    }
    const confirm = async (ready: ToolCall): Promise<BeforeToolCallResult | undefined> => {
      const last = await decided?.confirm?.(ready);
      const settled = last?.ask === undefined ? last : await last.ask();
      if (settled?.block || settled?.isSuspended) return settled;
      const { PersonQuestions } = await import("./person-questions.ts");
      this.#person ??= new PersonQuestions(this.#options);
      return this.#person.ask(ready, signal);
    };
    return { ...decided, confirm };
  }

  async #admit(
    call: ToolCall,
    tool: AgentTool,
    signal: AbortSignal,
  ): Promise<BeforeToolCallResult | undefined> {
    const { permissions, extensions } = this.#options;
    const requestId = this.#state.resumed.get(call.id);
    const { withdrawals } = this.#state;
    const passing: PassingCall = { call, tool, signal, requestId, withdrawals };
    const isFree = () => requestId === undefined && permissions.allowsAll;
    if (!isFree()) {
      const denial = await (await this.#load()).denial(passing);
      if (denial !== undefined) return denial;
    }
    const decided = await decideToolCall(extensions, call, { tool, signal });
    if (decided?.block) return decided;
    // The mode and the rules may have changed while an extension was deciding.
    if (!isFree()) return (await this.#load()).decide(passing, decided);
    const basis = { isAllowedByPerson: decided?.wasAsked === true };
    const confirm = (ready: ToolCall) => {
      return isFree() ? undefined : this.#confirm({ ...passing, call: ready }, basis);
    };
    return { ...decided, confirm };
  }

  async afterToolCall(
    call: ToolCall,
    result: ToolResult,
    tool?: AgentTool,
  ): Promise<Partial<ToolResult> | undefined> {
    const changed = await this.#options.extensions?.afterToolCall?.(call, result, tool);
    const isForeign = tool?.openWorld === true;
    const changes = isForeign ? markForeign({ ...result, ...changed }) : changed;
    const input = this.#judged?.takeChanged(call.id);
    if (input === undefined) return changes;
    const text = `The user changed the arguments of this call. It ran with ${JSON.stringify(input)}.`;
    const content = changes?.content ?? result.content;
    return { ...changes, content: [{ type: "text", text }, ...content] };
  }

  async #confirm(...of: Parameters<JudgedCalls["confirm"]>): ReturnType<JudgedCalls["confirm"]> {
    return (await this.#load()).confirm(...of);
  }

  async #load(): Promise<JudgedCalls> {
    const { JudgedCalls } = await import("./judged-calls.ts");
    this.#judged ??= new JudgedCalls(this.#options, this.#state);
    return this.#judged;
  }
}

/** Whether a question comes from this session's model rather than from a subagent's. */
function isOwnQuestion({ method, agentId }: OpenHostRequest): boolean {
  return method === "question" && agentId === undefined;
}

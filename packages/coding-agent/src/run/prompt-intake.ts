import type { RunOutcome } from "@tau-agent/agent";
import type { SessionEvent } from "@tau-agent/rpc-protocol";
import type { AgentMessage, PromptResult, UserMessage } from "@tau-agent/rpc-protocol/messages";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import type { Conversation } from "@tau-agent/sessions/log";
import { randomUuid, SparseSet } from "@tau-agent/system";
import type { SessionBudget } from "../subagents/budgets/session-budget.ts";
import type { SessionTelemetry } from "../telemetry/session-telemetry.ts";
import type { PromptInput, UserInput } from "../user-input/input.ts";
import type { Admission } from "./admission.ts";
import type { AgentQueues } from "./agent-queues.ts";
import { Arrivals, type OrCalledOff } from "./arrivals.ts";
import { checkPrompt } from "./check-prompt.ts";
import { HandledPrompts } from "./handled-prompts.ts";
import type { OpenOutputs } from "./open-outputs.ts";
import { askingFor, identityOf } from "./prompt-identity.ts";
import type { PromptAcceptance, PromptOptions } from "./prompt-options.ts";
import type { PromptOrigins } from "./prompt-origins.ts";
import {
  type PromptIdentity,
  type PromptOutcome,
  PromptTracker,
  resultEvent,
} from "./prompt-tracker.ts";
import { QueueReport } from "./queue-report.ts";
import { continuePrompt, resumePrompt } from "./resume-prompt.ts";
import type { RunDriver } from "./run-driver.ts";
import type { SessionHooks } from "./session-hooks.ts";
import type { StepLimits } from "./step-limits.ts";
import { storedOutcome } from "./stored-outcome.ts";
import type { Survival } from "./survival.ts";

export interface PromptIntakeOptions {
  readonly agent: AgentQueues;
  readonly admission: Admission;
  readonly driver: RunDriver;
  readonly userInput: UserInput;
  /** Refuses a prompt that could never be answered. */
  readonly check: (goesOn?: boolean) => Promise<void>;
  readonly survival?: Survival | undefined;
  readonly hooks?: SessionHooks | undefined;
  /** Called when a queued message should interrupt the run. */
  readonly onSteer?: (() => void) | undefined;
  readonly origins: PromptOrigins;
  readonly outputs: OpenOutputs;
  readonly conversation: Pick<Conversation, "log" | "messages" | "drop" | "resumeCalls">;
  readonly budget: Pick<SessionBudget, "signal">;
  readonly limits: StepLimits;
  readonly telemetry?: SessionTelemetry | undefined;
  /** Sends an event, by default as part of the current prompt. */
  readonly emit: (event: SessionEvent, promptId?: string) => void | Promise<void>;
}

/** The queue in which a message waits during a run; a message for the next turn also waits while idle. */
type QueueName = "steer" | "followUp" | "nextTurn";

/** Accepts prompts, as the input of a run or into a queue, and tracks each until its one result. */
export class PromptIntake {
  readonly #options: PromptIntakeOptions;
  readonly #prompts = new PromptTracker();
  readonly #handled = new HandledPrompts((result) => this.#announce([result]));
  readonly #queues: QueueReport;
  readonly #arrivals = new Arrivals();
  /** Prompts whose results this host has already announced. */
  readonly #announced = new SparseSet<string>();

  constructor(options: PromptIntakeOptions) {
    this.#options = options;
    const { agent, origins, emit } = options;
    this.#queues = new QueueReport(agent, origins, (event) => void emit(event));
  }

  /** Accepts a prompt; during a run, only with a `streamingBehavior`. Commands run at once. */
  submit(text: string, options: PromptOptions): Promise<PromptAcceptance> {
    return this.#arrivals.note(this.#submit(text, options));
  }

  async #submit(text: string, options: PromptOptions): Promise<PromptAcceptance> {
    checkPrompt(text, options);
    const { admission, driver, check, userInput, hooks } = this.#options;
    const orCalledOff = this.#arrivals.orCalledOff();
    if (hooks !== undefined) await orCalledOff(hooks.begin());
    if (admission.isClosed) throw new SessionError("disposed");
    const command = options.verbatim ? undefined : hooks?.findCommand(text);
    // A prompt from an extension must not count as a client's, which would receive its result.
    const identity = identityOf(options, options.source !== "extension");
    // Commands bypass the admission, because a command may itself wait until the session is idle.
    if (command !== undefined) {
      return this.#known(identity, options) ?? this.#handle(identity, () => command.run());
    }
    return admission.admit(async () => {
      const known = this.#known(identity, options);
      if (known) return this.#resumed(identity, options, known);
      const prompt = await orCalledOff(askingFor(identity, options));
      const { streamingBehavior } = options;
      if (driver.isRunning && streamingBehavior === undefined) throw new SessionError("busy");
      const input = await orCalledOff(this.#changed(text, options, streamingBehavior));
      if (input === undefined) return this.#handle(prompt);
      await orCalledOff(check());
      const message = await orCalledOff(userInput.build(input.text, input));
      this.#options.limits.ask(prompt.promptId, options.until);
      return this.#accept(message, streamingBehavior, { prompt, orCalledOff });
    });
  }

  /**
   * Stops the current run and starts one with this prompt, ahead of the queue. If the prompt is
   * refused, nothing is stopped.
   */
  interrupt(text: string, options: PromptOptions): Promise<PromptAcceptance> {
    return this.#arrivals.note(this.#interrupt(text, options));
  }

  async #interrupt(text: string, options: PromptOptions): Promise<PromptAcceptance> {
    checkPrompt(text, options);
    const { admission, driver, check, userInput, hooks } = this.#options;
    const orCalledOff = this.#arrivals.orCalledOff();
    if (hooks !== undefined) await orCalledOff(hooks.begin());
    const identity = identityOf(options, true);
    return admission.admit(async () => {
      const known = this.#known(identity, options);
      if (known !== undefined) return known;
      const prompt = await orCalledOff(askingFor(identity, options));
      const input = await orCalledOff(this.#changed(text, options, undefined));
      if (input === undefined) return this.#handle(prompt);
      await orCalledOff(check());
      const message = await orCalledOff(userInput.build(input.text, input));
      hooks?.dismissDialogs();
      await driver.hold();
      try {
        const added = (hooks && (await orCalledOff(hooks.beforeRun(message)))) ?? [];
        const { promptId } = prompt;
        const result = this.#expect(message, prompt, undefined);
        await driver.release([message, ...added]);
        return { disposition: "started", promptId, result };
      } catch (error) {
        await driver.release();
        throw error;
      }
    });
  }

  /** Queues a message; while idle it starts a run, or waits for the next one. Commands are refused. */
  enqueue(text: string, options: PromptOptions, behavior: QueueName): Promise<PromptAcceptance> {
    return this.#arrivals.note(this.#enqueue(text, options, behavior));
  }

  async #enqueue(
    text: string,
    options: PromptOptions,
    behavior: QueueName,
  ): Promise<PromptAcceptance> {
    checkPrompt(text, options);
    const { admission, driver, check, userInput, hooks } = this.#options;
    const orCalledOff = this.#arrivals.orCalledOff();
    if (hooks !== undefined) await orCalledOff(hooks.begin());
    const command = options.verbatim ? undefined : hooks?.findCommand(text);
    if (command !== undefined) {
      throw new SessionError("command_not_queueable", { name: command.name });
    }
    const identity = identityOf(options, false);
    return admission.admit(async () => {
      const prompt = await orCalledOff(askingFor(identity, options));
      const waits = behavior === "nextTurn";
      const source = waits ? "followUp" : behavior;
      const input = await orCalledOff(this.#changed(text, options, source));
      if (input === undefined) return this.#handle(prompt);
      if (!driver.isBusy && !waits) await orCalledOff(check());
      const message = await orCalledOff(userInput.build(input.text, input));
      return this.#accept(message, behavior, { prompt, orCalledOff });
    });
  }

  /** Delivers a message that is not a prompt: into the current run, or as the start of one. */
  deliver(message: AgentMessage, behavior: "steer" | "followUp"): Promise<void> {
    const { admission, driver, check } = this.#options;
    const orCalledOff = this.#arrivals.orCalledOff();
    const delivered = admission.admit(async () => {
      if (!driver.isBusy) await orCalledOff(check());
      const added = await this.#added(message, behavior, orCalledOff);
      this.#begin([message, ...added], behavior);
    });
    return this.#arrivals.note(delivered);
  }

  /**
   * Resolves once everything submitted so far is a run, queued, handled or refused. This is soon, because slow work is
   * cancelled.
   */
  settle(): Promise<void> {
    return this.#arrivals.settle();
  }

  /** Empties all queues and returns their messages; prompts among them end as aborted. */
  async clearQueue(): Promise<{ steering: string[]; followUp: string[] }> {
    const { texts, messages } = this.#queues.clear();
    await this.#announce(this.#prompts.drop(messages));
    return texts;
  }

  /**
   * Removes a queued message and returns its text; its result `aborted` is announced.
   *
   * @throws {SessionError} `queue_item_not_found`
   */
  async cancelQueued(itemId: string): Promise<{ text: string }> {
    const removed = this.#queues.remove(itemId);
    if (removed === undefined) throw new SessionError("queue_item_not_found", { itemId });
    await this.#announce(this.#prompts.drop([removed.message], true));
    return { text: removed.text };
  }

  /** Empties all queues; their prompts end with {@link abandon}. */
  dropQueued(): void {
    this.#queues.clear();
  }

  noteRecorded(message: AgentMessage): void {
    const { promptId } = this.#options.origins.of(message) ?? {};
    this.#prompts.noteRecorded(message, promptId);
    this.#options.outputs.noteDelivery(promptId);
    if (message.role === "user") this.#queues.update();
  }

  /** Continues a run that another host began; this host announces the result of its prompt. */
  continueRun(promptId: string | undefined): void {
    continuePrompt(promptId, this.#prompts, this.#options);
  }

  /** Records the end of a run that does not continue as the result of the prompts it answered. */
  noteRunEnd(input: readonly AgentMessage[], outcome: RunOutcome): () => void {
    const { budget, limits } = this.#options;
    const pausedBy = (promptId: string) => limits.pausedBy(promptId);
    const isOverBudget = budget.signal.aborted;
    return this.#prompts.noteRunEnd(input, outcome, { isOverBudget, pausedBy });
  }

  announceResults(): Promise<void> {
    return this.#announce(this.#prompts.settle());
  }

  /** Ends unanswered prompts as aborted, because the conversation is abandoned. */
  abandon(): Promise<void> {
    return this.#announce(this.#prompts.abandon());
  }

  /** Ends prompts that extensions are still handling as aborted, because the session ends. */
  abandonHandled(): Promise<void> {
    return this.#handled.abandon();
  }

  /** The input as changed by extensions; undefined if an extension handled it. */
  async #changed<Input extends PromptInput>(
    text: string,
    options: Input & Pick<PromptOptions, "source">,
    streamingBehavior: PromptOptions["streamingBehavior"],
  ): Promise<(Input & { readonly text: string }) | undefined> {
    const { hooks, driver } = this.#options;
    if (hooks === undefined) return { ...options, text };
    const changed = await hooks.changeInput(
      { text, images: options.images },
      {
        source: options.source ?? "rpc",
        // Given only if the input will really be queued.
        ...(driver.isRunning ? { streamingBehavior } : {}),
      },
    );
    return changed && { ...options, ...changed };
  }

  async #accept(
    message: UserMessage,
    behavior: QueueName | undefined,
    { prompt, orCalledOff }: { prompt: PromptIdentity; orCalledOff: OrCalledOff },
  ): Promise<PromptAcceptance> {
    // A run may have started while the input was prepared.
    if (this.#options.driver.isRunning && behavior === undefined) throw new SessionError("busy");
    const queueName = behavior ?? "followUp";
    const added = await this.#added(message, queueName, orCalledOff);
    const { promptId } = prompt;
    const itemId = this.#waits(queueName) ? randomUuid() : undefined;
    const result = this.#expect(message, prompt, itemId);
    const disposition = this.#begin([message, ...added], queueName);
    return { disposition, promptId, ...(itemId === undefined ? {} : { itemId }), result };
  }

  /** Registers the prompt; from here on it is part of the session. */
  #expect(
    message: UserMessage,
    prompt: PromptIdentity,
    itemId: string | undefined,
  ): Promise<PromptResult> {
    const { origins, outputs, telemetry } = this.#options;
    const { promptId, answer, traceparent } = prompt;
    const trace = telemetry?.traceOf(traceparent);
    origins.mark(message, { promptId, itemId, note: answer?.instruction, trace });
    if (answer !== undefined) outputs.add(promptId, answer);
    return this.#prompts.accept(message, prompt);
  }

  /** The result of a prompt that the session already has; undefined for a new one. */
  #known(identity: PromptIdentity, options: PromptOptions): PromptAcceptance | undefined {
    // A generated id is new in every session.
    if (options.promptId === undefined) return undefined;
    const { promptId } = identity;
    const { log } = this.#options.conversation;
    const awaited = this.#prompts.find(promptId) ?? this.#handled.find(promptId);
    if (awaited === undefined && !log.promptIds.has(promptId)) return undefined;
    const result = awaited ?? Promise.resolve(storedOutcome(log, identity).result);
    return { disposition: "duplicate", promptId, result };
  }

  /** Continues a prompt whose run ended with its host, if the options ask for that. */
  async #resumed(
    identity: PromptIdentity,
    options: PromptOptions,
    known: PromptAcceptance,
  ): Promise<PromptAcceptance> {
    const { promptId } = identity;
    if (!options.resume || this.#prompts.isClaimed(promptId)) return known;
    this.#options.limits.checkResumable(promptId);
    this.#options.limits.ask(promptId, options.until);
    await this.#options.check(true);
    const result = resumePrompt(await askingFor(identity, options), this.#prompts, this.#options);
    if (result !== undefined) return { disposition: "started" as const, promptId, result };
    if (this.#announced.has(promptId)) return known;
    // The earlier host may have died before it announced the result. The first answer has already seen the replies, so
    // a new one is needed.
    const { answer } = await askingFor(identity, options);
    const ended = storedOutcome(this.#options.conversation.log, { ...identity, answer });
    setImmediate(() => void this.#announce([ended.outcome]));
    return { ...known, result: Promise.resolve(ended.result) };
  }

  /** A new prompt begins, so a paused one will not continue. */
  #closePaused(): void {
    const promptId = this.#options.limits.close();
    if (promptId === undefined) return;
    void this.#announce([{ id: undefined, promptId, status: "aborted" }]);
  }

  /** Messages that extensions add after the message that begins a run. */
  async #added(
    message: AgentMessage,
    queueName: QueueName,
    orCalledOff: OrCalledOff,
  ): Promise<AgentMessage[]> {
    const { hooks } = this.#options;
    if (this.#waits(queueName) || hooks === undefined) return [];
    return orCalledOff(hooks.beforeRun(message));
  }

  #waits(queueName: QueueName): boolean {
    return this.#options.driver.isBusy || queueName === "nextTurn";
  }

  #begin(messages: readonly AgentMessage[], queueName: QueueName): "started" | "queued" {
    const { agent, driver } = this.#options;
    if (!driver.isBusy && queueName !== "nextTurn") this.#closePaused();
    const queues = { steer: agent.steering, nextTurn: agent.nextTurn, followUp: agent.followUp };
    if (!this.#waits(queueName)) {
      driver.start(messages);
      return "started";
    }
    for (const message of messages) queues[queueName].enqueue(message);
    this.#queues.update();
    if (queueName === "steer") this.#options.onSteer?.();
    return "queued";
  }

  #handle(prompt: PromptIdentity, work?: () => Promise<void>): PromptAcceptance {
    const { promptId } = prompt;
    return { disposition: "handled", promptId, result: this.#handled.begin(prompt, work) };
  }

  async #announce(results: readonly PromptOutcome[]): Promise<void> {
    for (const result of results) {
      if (!this.#prompts.takeUnheard(result.promptId)) this.#announced.add(result.promptId);
      this.#options.outputs.forget(result.promptId);
      await this.#options.emit(resultEvent(result), result.promptId);
    }
  }
}

import type {
  HarnessV1PromptControl,
  HarnessV1StreamPart,
  HarnessV1ToolSpec,
} from "@ai-sdk/harness";
import { type DefinedTool, defineTool, type RpcClientOptions } from "@tau-agent/rpc-client";
import {
  type RunPart,
  type RunPlace,
  runPartEncoder,
  type StreamEvent,
} from "@tau-agent/rpc-client/streams";
import {
  type QuestionRequest,
  type QuestionResult,
  questionInput,
  questionResult,
} from "./questions.ts";
import { streamParts } from "./stream-parts.ts";

type Approve = NonNullable<RpcClientOptions["approve"]>;
type Approval = Parameters<Approve>[0];
type Answer = Awaited<ReturnType<Approve>>;
type ToolAnswer = { readonly output: unknown; readonly isError: boolean };

export interface TurnOptions {
  readonly emit: (part: HarnessV1StreamPart) => void;
  readonly tools: readonly HarnessV1ToolSpec[];
  readonly isStructured: boolean;
  /** What an earlier process has shown of the turn: the open calls and questions, and its replies. */
  readonly shown: readonly string[];
  readonly place: RunPlace | undefined;
  readonly steer: (text: string) => Promise<void>;
}

/** A running turn: converts events to parts, and the caller's answers to the host's. */
export class Turn implements HarnessV1PromptControl {
  #options: TurnOptions;
  readonly #encoder = runPartEncoder();
  readonly #shown: Set<string>;
  readonly #approvals = new Map<string, PromiseWithResolvers<Answer>>();
  readonly #results = new Map<string, PromiseWithResolvers<ToolAnswer>>();
  #done = Promise.withResolvers<void>();
  #isOver = false;
  #hasCalls = false;
  /**
   * Requests that were shown and wait for the caller, who may continue in another stream; nothing else is
   * shown until they are answered.
   */
  readonly #waiting = new Set<string>();
  /** Whether new events wait until the missed ones are known. */
  #isHeld = false;
  #isEnding = false;
  #events: StreamEvent[] = [];
  #parts: RunPart[] = [];
  #opening = Promise.withResolvers<void>();
  /** Calls that were shown in this stream. */
  readonly #here = new Set<string>();
  /** Calls that are shown in another form. */
  readonly #hidden = new Set<string>();
  /** Calls whose arguments are shown while they stream. */
  readonly #growing = new Set<string>();

  constructor(options: TurnOptions) {
    this.#options = options;
    this.#shown = new Set(options.shown);
    this.#encoder.takeUp([], options.place);
    this.#done.promise.catch(() => {});
  }

  get done(): Promise<void> {
    return this.#done.promise;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Calls and questions that were shown, for a process that resumes the turn. */
  get shown(): string[] {
    return [...this.#shown];
  }

  /** Whether events have arrived that were not shown. */
  get isBehind(): boolean {
    return this.#events.length + this.#parts.length > 0;
  }

  /** How much of the replies was shown. */
  get place(): RunPlace {
    return this.#encoder.place;
  }

  /** Shows and asks nothing before {@link release}. */
  hold(): void {
    this.#isHeld = true;
  }

  /** The timestamp of the reply in the waiting events; undefined if there is none. */
  get heldReply(): number | undefined {
    for (const event of this.#events) {
      const { message } = event as { readonly message?: { role: string; timestamp: number } };
      if (/^message_/.test(event.type) && message?.role === "assistant") return message.timestamp;
    }
    return undefined;
  }

  /** Shows the missed events and then everything that waits. */
  release(missed: readonly StreamEvent[] = []): void {
    this.#isHeld = false;
    this.#events = [...missed, ...this.#events];
    this.#showAll();
  }

  hear(event: StreamEvent): void {
    if (this.#isOver) return;
    // From now on, nobody answers.
    this.#isEnding ||= event.type === "agent_settled";
    this.#events.push(event);
    this.#showAll();
  }

  /** The rest of the turn goes to another stream of this process. */
  renew(options: Pick<TurnOptions, "emit">): void {
    this.#options = { ...this.#options, ...options };
    this.#here.clear();
    this.#done.resolve();
    this.#done = Promise.withResolvers();
    this.#done.promise.catch(() => {});
  }

  /** The turn continues elsewhere, or cannot continue. */
  leave(error?: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (error === undefined) this.#done.resolve();
    else this.#done.reject(error);
  }

  /** Asks the caller and waits for the answer. */
  async ask(request: Approval, signal: AbortSignal): Promise<Answer> {
    await this.#open();
    const { id: approvalId, toolCallId, agentId, toolName, input } = request;
    if (!this.#shown.has(approvalId)) {
      this.#shown.add(approvalId);
      const isOwn = agentId === undefined && toolCallId !== undefined;
      const callId = isOwn ? toolCallId : approvalId;
      // An approval request must follow its call in the same stream, and the call of a subagent was not shown in any.
      if (!this.#here.has(callId)) {
        this.#shown.delete(callId);
        this.#show({ kind: "call-ready", id: callId, name: toolName, input });
      }
      this.#options.emit({ type: "tool-approval-request", approvalId, toolCallId: callId });
      this.#waiting.add(approvalId);
    }
    return new Promise((resolve, reject) => {
      signal.addEventListener("abort", () => {
        this.#settle(approvalId);
        reject(new Error("answered elsewhere"));
      });
      this.#answer(approvalId).promise.then(resolve);
    });
  }

  /** Asks the model's question as a call of a tool that the caller answers. */
  async askQuestions(request: QuestionRequest): Promise<QuestionResult> {
    await this.#open();
    const { id: toolCallId } = request;
    if (!this.#shown.has(toolCallId)) {
      this.#shown.add(toolCallId);
      const input = JSON.stringify(questionInput(request));
      this.#options.emit({ type: "tool-call", toolCallId, toolName: "askUserQuestions", input });
      this.#waiting.add(toolCallId);
    }
    const { output } = await this.#result(toolCallId).promise;
    return questionResult(request, output);
  }

  /** The caller's tools, as called by the host. */
  get hostTools(): DefinedTool[] {
    return this.#options.tools.map(({ name, description = name, inputSchema }) =>
      defineTool({
        name,
        description,
        parameters: (inputSchema ?? { type: "object" }) as object,
        readOnly: true,
        execute: async (_, { toolCallId }) => {
          const { output, isError } = await this.#result(toolCallId).promise;
          const text = typeof output === "string" ? output : JSON.stringify(output ?? null);
          if (isError) throw new Error(text);
          return text;
        },
      }),
    );
  }

  async submitToolResult({
    toolCallId,
    output,
    isError = false,
  }: Parameters<HarnessV1PromptControl["submitToolResult"]>[0]): Promise<void> {
    this.#result(toolCallId).resolve({ output, isError });
    this.#settle(toolCallId);
  }

  async submitToolApproval({
    approvalId,
    approved,
    reason,
  }: {
    readonly approvalId: string;
    readonly approved: boolean;
    readonly reason?: string;
  }): Promise<void> {
    const message = reason === undefined ? {} : { message: reason };
    const answer: Answer = approved ? { decision: "allow" } : { decision: "deny", ...message };
    this.#answer(approvalId).resolve(answer);
    this.#settle(approvalId);
  }

  async submitUserMessage(text: string): Promise<void> {
    await this.#options.steer(text);
  }

  /** The caller may answer before a new host has repeated the request. */
  #answer(approvalId: string): PromiseWithResolvers<Answer> {
    const known = this.#approvals.get(approvalId) ?? Promise.withResolvers<Answer>();
    this.#approvals.set(approvalId, known);
    return known;
  }

  #result(toolCallId: string): PromiseWithResolvers<ToolAnswer> {
    const known = this.#results.get(toolCallId) ?? Promise.withResolvers<ToolAnswer>();
    this.#results.set(toolCallId, known);
    return known;
  }

  get #isOpen(): boolean {
    return !this.#isHeld && (this.#isEnding || this.#waiting.size === 0);
  }

  /** Waits until more may be shown. */
  async #open(): Promise<void> {
    while (!this.#isOpen) await this.#opening.promise;
  }

  #settle(id: string): void {
    if (this.#waiting.delete(id)) this.#showAll();
  }

  #showAll(): void {
    while (this.#isOpen) {
      const part = this.#parts.shift();
      const event = part === undefined ? this.#events.shift() : undefined;
      if (part !== undefined) this.#show(part);
      else if (event !== undefined) this.#parts = this.#encoder.push(event);
      else break;
    }
    if (!this.#isOpen) return;
    this.#opening.resolve();
    this.#opening = Promise.withResolvers();
  }

  #show(part: RunPart): void {
    // The questions are shown as the common tool instead.
    if (part.kind === "call-start" && part.name === "ask_user") this.#hidden.add(part.id);
    if ("id" in part && (this.#hidden.has(part.id) || this.#isShown(part))) return;
    if (part.kind === "call-start") this.#growing.add(part.id);
    if (part.kind === "call-ready") {
      this.#shown.add(part.id);
      this.#here.add(part.id);
    }
    const { tools, isStructured, emit } = this.#options;
    const callerTools = new Set(tools.map(({ name }) => name));
    if (part.kind === "turn-start") this.#hasCalls = false;
    if (part.kind === "call-ready" || part.kind === "call-end") this.#hasCalls = true;
    if (part.kind === "call-end") this.#shown.delete(part.id);
    const hasInput = part.kind === "call-ready" && this.#growing.delete(part.id);
    const context = { callerTools, isStructured, hasCalls: this.#hasCalls, hasInput };
    for (const one of streamParts(part, context)) emit(one);
    if (part.kind === "call-ready" && callerTools.has(part.name)) this.#waiting.add(part.id);
    if (part.kind === "run-end") this.leave();
  }

  /** Whether the part begins a call that was already shown. */
  #isShown(part: RunPart & { readonly id: string }): boolean {
    return /^call-(start|delta|ready)$/.test(part.kind) && this.#shown.has(part.id);
  }
}

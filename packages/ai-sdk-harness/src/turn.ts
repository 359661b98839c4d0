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
  /** What of the turn an earlier process has shown: calls and questions that are open, and its replies. */
  readonly shown: readonly string[];
  readonly place: RunPlace | undefined;
  readonly steer: (text: string) => Promise<void>;
}

/** A turn in flight: turns events into parts, and answers of the caller into those of the host. */
export class Turn implements HarnessV1PromptControl {
  #options: TurnOptions;
  readonly #encoder = runPartEncoder();
  readonly #shown: Set<string>;
  readonly #approvals = new Map<string, PromiseWithResolvers<Answer>>();
  readonly #results = new Map<string, PromiseWithResolvers<ToolAnswer>>();
  #done = Promise.withResolvers<void>();
  #isOver = false;
  #hasCalls = false;
  /** Events that wait until what came before them is known. */
  #held: StreamEvent[] | undefined;
  #released: PromiseWithResolvers<void> | undefined;

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

  /** Calls and questions that were shown, for a process that goes on with the turn. */
  get shown(): string[] {
    return [...this.#shown];
  }

  /** How far the replies were shown. */
  get place(): RunPlace {
    return this.#encoder.place;
  }

  /** Shows and asks nothing before {@link release}. */
  hold(): void {
    this.#held = [];
    this.#released = Promise.withResolvers();
  }

  /** The reply of the events that wait, by its time; undefined if there is none. */
  get heldReply(): number | undefined {
    for (const event of this.#held ?? []) {
      const { message } = event as { readonly message?: { role: string; timestamp: number } };
      if (/^message_/.test(event.type) && message?.role === "assistant") return message.timestamp;
    }
    return undefined;
  }

  /** Shows what was missed, and all that waits. */
  release(missed: readonly StreamEvent[] = []): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const event of [...missed, ...held]) this.hear(event);
    this.#released?.resolve();
  }

  hear(event: StreamEvent): void {
    if (this.#isOver) return;
    if (this.#held !== undefined) {
      this.#held.push(event);
      return;
    }
    for (const part of this.#encoder.push(event)) this.#show(part);
  }

  /** Another stream of this process gets the rest of the turn. */
  renew(options: Pick<TurnOptions, "emit">): void {
    this.#options = { ...this.#options, ...options };
    this.#done.resolve();
    this.#done = Promise.withResolvers();
    this.#done.promise.catch(() => {});
  }

  /** The turn goes on elsewhere, or cannot go on. */
  leave(error?: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (error === undefined) this.#done.resolve();
    else this.#done.reject(error);
  }

  /** Asks the caller, and waits for its answer. */
  async ask(request: Approval, signal: AbortSignal): Promise<Answer> {
    await this.#released?.promise;
    const { id: approvalId, toolCallId, agentId, toolName, input } = request;
    if (!this.#shown.has(approvalId)) {
      this.#shown.add(approvalId);
      const isOwn = agentId === undefined && toolCallId !== undefined;
      const callId = isOwn ? toolCallId : approvalId;
      // The call of a subagent was not shown; what is asked about has to be.
      if (!this.#shown.has(callId)) {
        this.#show({ kind: "call-ready", id: callId, name: toolName, input });
      }
      this.#options.emit({ type: "tool-approval-request", approvalId, toolCallId: callId });
    }
    return new Promise((resolve, reject) => {
      signal.addEventListener("abort", () => reject(new Error("answered elsewhere")));
      this.#answer(approvalId).promise.then(resolve);
    });
  }

  /** Asks what the model wants to know, as a call of a tool that the caller answers. */
  async askQuestions(request: QuestionRequest): Promise<QuestionResult> {
    await this.#released?.promise;
    const { id: toolCallId } = request;
    if (!this.#shown.has(toolCallId)) {
      this.#shown.add(toolCallId);
      const input = JSON.stringify(questionInput(request));
      this.#options.emit({ type: "tool-call", toolCallId, toolName: "askUserQuestions", input });
    }
    const { output } = await this.#result(toolCallId).promise;
    return questionResult(request, output);
  }

  /** The tools of the caller, as the host calls them. */
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
  }

  async submitUserMessage(text: string): Promise<void> {
    await this.#options.steer(text);
  }

  /** The caller may answer before a new host has asked again. */
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

  #show(part: RunPart): void {
    // Its questions are shown as the common tool for them.
    if ("name" in part && part.name === "ask_user") return;
    if (part.kind === "call-ready") {
      if (this.#shown.has(part.id)) return;
      this.#shown.add(part.id);
    }
    const { tools, isStructured, emit } = this.#options;
    const callerTools = new Set(tools.map(({ name }) => name));
    if (part.kind === "turn-start") this.#hasCalls = false;
    if (part.kind === "call-ready" || part.kind === "call-end") this.#hasCalls = true;
    // A model may use the id again.
    if (part.kind === "call-end") this.#shown.delete(part.id);
    const context = { callerTools, isStructured, hasCalls: this.#hasCalls };
    for (const one of streamParts(part, context)) emit(one);
    if (part.kind === "run-end") this.leave();
  }
}

import type { ClientEvent, HostRequestResolved, SessionEvent } from "@tau-agent/rpc-protocol";
import type { AssistantMessageEvent, ToolResult } from "@tau-agent/rpc-protocol/events";
import type { AgentMessage, AssistantMessage } from "@tau-agent/rpc-protocol/messages";
import { contentText } from "@tau-agent/rpc-protocol/plain";
import { MessageBlocks } from "./message-blocks.ts";
import type { RunEnd, RunPart, RunPlace, ShownRequest, StreamEvent } from "./run-part.ts";
import { ToolCalls } from "./tool-calls.ts";

type Step = Partial<AssistantMessageEvent> & { readonly type: string };
type PromptEnd = Extract<SessionEvent, { type: "prompt_result" }> & { readonly promptId?: string };
type Read = (SessionEvent | ShownRequest | HostRequestResolved) & { readonly promptId?: string };

const unfinished = "The run ended before this call did.";

/**
 * Reads the events of a session as runs of well-formed parts. It can start anywhere: if the beginning of a block is
 * missing, the block is shown as a whole at its end, so that replayed events produce the same result as live ones.
 */
export class RunReader {
  readonly #calls = new ToolCalls();
  #blocks = new MessageBlocks("0");
  #open = new Map<string, ShownRequest>();
  #runs = 0;
  #endedRuns = 0;
  #runId: string | undefined;
  #turn = 0;
  #messages = 0;
  #isInTurn = false;
  #hasReplied = false;
  #subagents = new Map<string, boolean>();
  /** Whether the run has a generated name, because its events name no prompt. */
  #isNamed = false;
  #isSettled = false;
  #result: PromptEnd | undefined;
  #replies: AssistantMessage[] = [];
  /** The number of replies that belong to earlier turns. */
  #repliesBefore = 0;
  /** The number of replies that another stream has shown. */
  #before = 0;

  /** Sets the requests that were already open, with their calls, and the place in the run. */
  takeUp(requests: readonly ShownRequest[], place?: RunPlace): void {
    if (place !== undefined) {
      this.#turn = place.turn;
      this.#isInTurn = place.isInTurn;
      this.#before = place.replies;
      this.#blocks = new MessageBlocks("0", place.blocks);
    }
    for (const request of requests) {
      this.#open.set(request.id, request);
      if (request.method === "tool_approval") {
        this.#calls.know(callIdOf(request), request.params.toolName);
      }
    }
  }

  push(event: StreamEvent): RunPart[] {
    return [...this.#read(event as Read)];
  }

  get place(): RunPlace {
    return {
      turn: this.#turn,
      isInTurn: this.#isInTurn,
      replies: this.#before + this.#replies.length,
      blocks: this.#blocks.shown,
    };
  }

  /** How many runs have ended or paused. */
  get endedRuns(): number {
    return this.#endedRuns;
  }

  /** The events have ended: a run that waits for answers is paused, any other is cut off. */
  end(): RunPart[] {
    if (this.#runId === undefined) return [];
    if (this.#isSettled) return [...this.#finish()];
    return [...this.#end({ status: this.#open.size > 0 ? "paused" : "cut" })];
  }

  *#read(event: Read): Generator<RunPart, void> {
    if (event.type === "prompt_result") {
      yield* this.#readResult(event);
    } else if (event.type === "agent_settled") {
      this.#isSettled = this.#runId !== undefined;
      if (this.#result !== undefined) yield* this.#finish();
    } else if (event.type === "host_request_resolved") {
      yield* this.#resolve(event);
    } else if (event.type === "host_request") {
      yield* this.#begin(event);
      yield* this.#request(event);
    } else if (event.type === "agent_start") {
      yield* this.#begin(event);
    } else if (isOfLoop(event)) {
      yield* this.#begin(event);
      yield* this.#readLoop(event);
    } else if (this.#runId !== undefined && event.type !== "agent_end") {
      yield* this.#readOther(event);
    }
  }

  *#readLoop(event: LoopEvent): Generator<RunPart, void> {
    switch (event.type) {
      case "turn_start":
        yield* this.#endTurn();
        this.#turn += 1;
        this.#isInTurn = true;
        yield { kind: "turn-start", turn: this.#turn };
        break;
      case "turn_end":
        yield* this.#endTurn();
        break;
      case "message_start":
        if (event.message.role === "assistant") yield* this.#beginMessage();
        break;
      case "message_update": {
        const step = event.assistantMessageEvent as Step;
        if (step.type.startsWith("toolcall_")) yield* this.#calls.step(step);
        else yield* this.#blocks.step(step, contentSoFar(event));
        break;
      }
      case "message_end":
        yield* this.#endMessage(event.message);
        break;
      case "tool_execution_start":
        yield* this.#calls.ready(event.toolCallId, event.toolName, event.args);
        break;
      case "tool_execution_update":
        yield* this.#calls.ready(event.toolCallId, event.toolName, event.args);
        yield { kind: "call-progress", id: event.toolCallId, result: event.partialResult };
        break;
      case "tool_execution_end":
        yield* this.#calls.end(event.toolCallId, event.toolName, event.result, event.isError);
        break;
    }
  }

  *#beginMessage(): Generator<RunPart, void> {
    yield* this.#blocks.close();
    this.#messages += 1;
    this.#hasReplied = true;
    this.#blocks = new MessageBlocks(`${this.#runId}-${this.#messages}`);
  }

  *#endMessage(message: AgentMessage): Generator<RunPart, void> {
    if (message.role === "assistant") {
      yield* this.#blocks.finish(message.content);
      for (const block of message.content) {
        if (block.type === "toolCall") {
          yield* this.#calls.announce(block.id, block.name, block.arguments);
        }
      }
      this.#replies.push(message);
      this.#blocks = new MessageBlocks(`${this.#runId}-${this.#messages}-next`);
    } else if (message.role === "toolResult") {
      // A skipped call has a result but no execution events.
      const { toolCallId, toolName, isError, ...result } = message;
      yield* this.#calls.end(toolCallId, toolName, result, isError);
    } else if (message.role === "user" && this.#hasReplied) {
      yield { kind: "steering", text: contentText(message.content) };
    }
  }

  *#readOther(event: Exclude<Read, LoopEvent>): Generator<RunPart, void> {
    if (event.type === "subagent_start") {
      if (this.#subagents.has(event.id)) return;
      this.#subagents.set(event.id, true);
      yield { kind: "subagent-start", id: event.id, agent: event.agent };
    } else if (event.type === "subagent_end") {
      if (this.#subagents.get(event.id) !== true) return;
      this.#subagents.set(event.id, false);
      yield { kind: "subagent-end", id: event.id, exitCode: event.exitCode };
    } else {
      yield { kind: "other", event };
    }
  }

  *#request(request: ShownRequest): Generator<RunPart, void> {
    if ((request.method as string) === "credential") return;
    const isKnown = this.#open.has(request.id);
    this.#open.set(request.id, request);
    if (isKnown) return;
    const { id, agentId, toolCallId } = request;
    if (request.method !== "tool_approval") {
      yield { kind: "request", request, callId: toolCallId ?? id };
      return;
    }
    const callId = callIdOf(request);
    const { toolName, input } = request.params;
    const name = agentId === undefined ? toolName : `${agentId}/${toolName}`;
    yield* this.#calls.ready(callId, name, input);
    yield { kind: "request", request, callId };
  }

  /** What a subagent does after the answer is not part of this conversation. */
  *#resolve({ id, outcome }: HostRequestResolved): Generator<RunPart, void> {
    const request = this.#open.get(id);
    this.#open.delete(id);
    if (request?.method !== "tool_approval" || request.agentId === undefined) return;
    const isAllowed = outcome === "allow";
    const text = textResult(isAllowed ? "Allowed." : "Denied.");
    const result = isAllowed ? text : { ...text, details: { denied: true } };
    yield* this.#begin(request);
    yield* this.#calls.end(callIdOf(request), request.params.toolName, result, !isAllowed);
  }

  /** The result of this run's own prompt follows the end of its work; results of other prompts precede it. */
  *#readResult(result: PromptEnd): Generator<RunPart, void> {
    if (this.#runId === undefined) {
      if (result.status !== "handled") return;
      yield* this.#begin(result);
      this.#isSettled = true;
    }
    const { promptId = this.#runId } = result;
    if (promptId !== this.#runId && !this.#isNamed) return;
    this.#result = result;
    if (this.#isSettled) yield* this.#finish();
  }

  *#finish(): Generator<RunPart, void> {
    const { status = "completed", error, code } = this.#result ?? {};
    yield* this.#end({ status: status === "handled" ? "completed" : status, error, code });
  }

  *#begin({ promptId }: { readonly promptId?: string | undefined }): Generator<RunPart, void> {
    // A run whose result is missing has ended when the next begins.
    if (this.#isSettled) yield* this.#finish();
    if (this.#runId !== undefined) return;
    this.#runs += 1;
    this.#isNamed = promptId === undefined;
    this.#runId = promptId ?? `run-${this.#runs}`;
    yield { kind: "run-start", runId: this.#runId };
  }

  *#endTurn(): Generator<RunPart, void> {
    yield* this.#blocks.close();
    if (!this.#isInTurn) return;
    this.#isInTurn = false;
    const replies = this.#replies.slice(this.#repliesBefore);
    this.#repliesBefore = this.#replies.length;
    yield { kind: "turn-end", turn: this.#turn, replies };
  }

  *#end(end: Pick<RunEnd, "status" | "error" | "code">): Generator<RunPart, void> {
    const isPaused = end.status === "paused";
    yield* this.#blocks.close();
    // A paused run continues later; the rest of a run that was cut off is unknown.
    yield* this.#calls.close(isPaused || end.status === "cut" ? undefined : textResult(unfinished));
    for (const [id, isActive] of this.#subagents) {
      if (isActive && !isPaused) yield { kind: "subagent-end", id, exitCode: 1 };
    }
    yield* this.#endTurn();
    const { output } = this.#result ?? {};
    const runId = this.#runId ?? "";
    const stopReason = this.#replies.at(-1)?.stopReason;
    const replies = this.#replies;
    const open = [...this.#open.values()];
    this.#runId = undefined;
    this.#isSettled = false;
    this.#endedRuns += 1;
    this.#result = undefined;
    this.#before = isPaused ? this.#before + replies.length : 0;
    this.#replies = [];
    this.#repliesBefore = 0;
    if (!isPaused) {
      this.#open.clear();
      this.#subagents.clear();
      this.#hasReplied = false;
      this.#turn = 0;
      this.#messages = 0;
    }
    yield { kind: "run-end", runId, ...end, stopReason, output, replies, open };
  }
}

type LoopEvent = Extract<
  ClientEvent,
  {
    type: `turn_${string}` | `message_${string}` | `tool_execution_${string}`;
  }
>;

function isOfLoop(event: Read): event is Extract<Read, LoopEvent> {
  return /^(?:turn|message|tool_execution)_/.test(event.type);
}

/** The accumulated reply; events in delta form do not contain it. */
function contentSoFar({ message }: { readonly message?: AgentMessage }) {
  return message?.role === "assistant" ? message.content : undefined;
}

/**
 * The calls of a subagent do not belong to this conversation, so a request about one is shown under the
 * request's own id.
 */
function callIdOf({ id, agentId, toolCallId = id }: ShownRequest): string {
  return agentId === undefined ? toolCallId : id;
}

function textResult(text: string): ToolResult {
  return { content: [{ type: "text", text }] };
}

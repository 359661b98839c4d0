import type { AssistantMessageEvent, ToolResult } from "@tau-agent/rpc-protocol/events";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import type { RunPart } from "./run-part.ts";

type Step = Partial<AssistantMessageEvent> & { readonly type: string };

interface Call {
  readonly name: string;
  /** Whether the arguments were streamed. */
  hasDeltas: boolean;
  state: "growing" | "ready" | "ended";
}

/** The tool calls of a run: each begins, becomes ready and ends exactly once. */
export class ToolCalls {
  readonly #calls = new Map<string, Call>();
  /** The calls of the streaming reply, by the index of their block. */
  readonly #growing = new Map<number, string>();

  /** Registers a call that was shown before. */
  know(id: string, name: string): void {
    if (!this.#calls.has(id)) this.#calls.set(id, { name, hasDeltas: true, state: "ready" });
  }

  *step(step: Step): Generator<RunPart, void> {
    const { contentIndex, id, toolName, delta, toolCall } = step as Record<string, unknown>;
    if (typeof contentIndex !== "number") return;
    if (step.type === "toolcall_start" && typeof id === "string" && id !== "") {
      if (this.#isCurrent(id)) return;
      this.#growing.set(contentIndex, id);
      yield* this.#begin(id, String(toolName));
    } else if (step.type === "toolcall_delta") {
      const growing = this.#growing.get(contentIndex);
      const call = growing === undefined ? undefined : this.#calls.get(growing);
      if (growing === undefined || call?.state !== "growing" || delta === "") return;
      call.hasDeltas = true;
      yield { kind: "call-delta", id: growing, delta: String(delta) };
    } else if (step.type === "toolcall_end") {
      this.#growing.delete(contentIndex);
      const { id: ended, name, arguments: input } = toolCall as Record<string, unknown>;
      yield* this.announce(String(ended), String(name), input);
    }
  }

  /** A complete call of a reply. Some models reuse ids in later replies. */
  *announce(id: string, name: string, input: unknown): Generator<RunPart, void> {
    if (!this.#isCurrent(id)) this.#calls.delete(id);
    yield* this.ready(id, name, input);
  }

  *ready(id: string, name: string, input: unknown): Generator<RunPart, void> {
    const known = this.#calls.get(id);
    if (known !== undefined && known.state !== "growing") return;
    if (known === undefined) yield* this.#begin(id, name);
    const call = this.#calls.get(id);
    if (call === undefined) return;
    if (!call.hasDeltas) yield { kind: "call-delta", id, delta: JSON.stringify(input ?? {}) };
    call.state = "ready";
    yield { kind: "call-ready", id, name: call.name, input: input ?? {} };
  }

  *end(id: string, name: string, result: ToolResult, isError: boolean): Generator<RunPart, void> {
    if (this.#calls.get(id)?.state === "ended") return;
    yield* this.ready(id, name, {});
    const call = this.#calls.get(id);
    if (call !== undefined) call.state = "ended";
    const isDenied = isError && isJsonObject(result.details) && "denied" in result.details;
    yield { kind: "call-end", id, name: call?.name ?? name, result, isError, isDenied };
  }

  /** The run ends or pauses. If a result is given, it is used for calls without one, and all calls are forgotten. */
  *close(result: ToolResult | undefined): Generator<RunPart, void> {
    for (const [id, { name, state }] of this.#calls) {
      if (result !== undefined && state !== "ended") yield* this.end(id, name, result, true);
      else if (state === "growing") yield* this.ready(id, name, {});
    }
    if (result === undefined) return;
    this.#calls.clear();
    this.#growing.clear();
  }

  #isCurrent(id: string): boolean {
    const call = this.#calls.get(id);
    return call !== undefined && call.state !== "ended";
  }

  *#begin(id: string, name: string): Generator<RunPart, void> {
    this.#calls.set(id, { name, hasDeltas: false, state: "growing" });
    yield { kind: "call-start", id, name };
  }
}

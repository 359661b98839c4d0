import type { AssistantMessageEvent } from "@tau-agent/rpc-protocol/events";
import type { AssistantContent } from "@tau-agent/rpc-protocol/messages";
import type { BlockKind, RunPart } from "./run-part.ts";

type Step = Partial<AssistantMessageEvent> & { readonly type: string };

/** The text and reasoning blocks of one reply, each shown once and whole. */
export class MessageBlocks {
  readonly #prefix: string;
  /** How much of each block was shown; undefined once it has ended. */
  readonly #shown = new Map<number, { kind: BlockKind; length: number } | undefined>();

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  *step(step: Step): Generator<RunPart, void> {
    const [, name = "", what = ""] = /^(text|thinking)_(start|delta|end)$/.exec(step.type) ?? [];
    const { contentIndex, delta, content } = step as Record<string, unknown>;
    if (name === "" || typeof contentIndex !== "number") return;
    const kind = name as BlockKind;
    if (what === "start") this.#begin(contentIndex, kind);
    else if (what === "delta") yield* this.#grow(contentIndex, String(delta ?? ""));
    else yield* this.#whole(contentIndex, kind, String(content ?? ""));
  }

  /** The reply is complete: shows what of it was not shown yet. */
  *finish(content: readonly AssistantContent[]): Generator<RunPart, void> {
    for (const [index, block] of content.entries()) {
      if (block.type === "text") yield* this.#whole(index, "text", block.text);
      if (block.type === "thinking") yield* this.#whole(index, "thinking", block.thinking);
    }
    yield* this.close();
  }

  /** Ends what is open. */
  *close(): Generator<RunPart, void> {
    for (const [index, shown] of this.#shown) {
      if (shown !== undefined) yield* this.#end(index, shown);
    }
  }

  #begin(index: number, kind: BlockKind): void {
    if (!this.#shown.has(index)) this.#shown.set(index, { kind, length: 0 });
  }

  /** A delta of a block whose beginning was not seen waits for the end, which has it all. */
  *#grow(index: number, delta: string): Generator<RunPart, void> {
    const shown = this.#shown.get(index);
    if (shown === undefined || delta === "") return;
    const { kind } = shown;
    const id = this.#id(index);
    if (shown.length === 0) yield { kind: "block-start", block: kind, id };
    shown.length += delta.length;
    yield { kind: "block-delta", block: kind, id, delta };
  }

  *#whole(index: number, kind: BlockKind, text: string): Generator<RunPart, void> {
    if (this.#shown.has(index) && this.#shown.get(index) === undefined) return;
    this.#begin(index, kind);
    const { length = 0 } = this.#shown.get(index) ?? {};
    yield* this.#grow(index, text.slice(length));
    const shown = this.#shown.get(index);
    if (shown !== undefined) yield* this.#end(index, shown);
  }

  *#end(
    index: number,
    { kind, length }: { readonly kind: BlockKind; readonly length: number },
  ): Generator<RunPart, void> {
    this.#shown.set(index, undefined);
    // A block without text, such as withheld reasoning, is not shown.
    if (length > 0) yield { kind: "block-end", block: kind, id: this.#id(index) };
  }

  #id(index: number): string {
    return `${this.#prefix}-${index}`;
  }
}

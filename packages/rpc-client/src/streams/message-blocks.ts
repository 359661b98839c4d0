import type { AssistantMessageEvent } from "@tau-agent/rpc-protocol/events";
import type { AssistantContent } from "@tau-agent/rpc-protocol/messages";
import type { BlockKind, RunPart, ShownBlock } from "./run-part.ts";

type Step = Partial<AssistantMessageEvent> & { readonly type: string };

interface Shown {
  readonly kind: BlockKind;
  length: number;
  /** Whether the beginning of the block is in this stream. */
  isBegun: boolean;
  isEnded: boolean;
}

/** The text and reasoning blocks of one reply, each shown exactly once and completely. */
export class MessageBlocks {
  readonly #prefix: string;
  readonly #shown = new Map<number, Shown>();

  /** @param before - the part of the reply that another stream has shown */
  constructor(prefix: string, before: readonly ShownBlock[] = []) {
    this.#prefix = prefix;
    for (const { index, block: kind, length, isEnded } of before) {
      this.#shown.set(index, { kind, length, isEnded, isBegun: false });
    }
  }

  /** What was shown so far. */
  get shown(): ShownBlock[] {
    return [...this.#shown].map(([index, { kind: block, length, isEnded }]) => {
      return { index, block, length, isEnded };
    });
  }

  /** @param content - the accumulated reply, if known: steps before this one may be missing */
  *step(step: Step, content: readonly AssistantContent[] = []): Generator<RunPart, void> {
    const [, name = "", what = ""] = /^(text|thinking)_(start|delta|end)$/.exec(step.type) ?? [];
    const { contentIndex, delta, content: whole } = step as Record<string, unknown>;
    if (name === "" || typeof contentIndex !== "number") return;
    const kind = name as BlockKind;
    if (what === "start") this.#begin(contentIndex, kind);
    else if (what === "end") yield* this.#whole(contentIndex, kind, String(whole ?? ""));
    else {
      const growth = String(delta ?? "");
      const length = this.#shown.get(contentIndex)?.length ?? 0;
      const soFar = textOf(content[contentIndex]) ?? "";
      // A client that attached during the reply may not have its beginning.
      const isWhole = soFar.length > length + growth.length;
      yield* this.#grow(contentIndex, isWhole ? soFar.slice(length) : growth);
    }
  }

  /** The reply is complete: shows everything that was not shown yet. */
  *finish(content: readonly AssistantContent[]): Generator<RunPart, void> {
    for (const [index, block] of content.entries()) {
      const text = textOf(block);
      if (text !== undefined) yield* this.#whole(index, block.type as BlockKind, text);
    }
    yield* this.close();
  }

  /** Ends all open blocks. */
  *close(): Generator<RunPart, void> {
    for (const index of this.#shown.keys()) yield* this.#end(index);
  }

  #begin(index: number, kind: BlockKind): void {
    if (this.#shown.has(index)) return;
    this.#shown.set(index, { kind, length: 0, isBegun: false, isEnded: false });
  }

  /** If the beginning of a block is missing, its deltas are held until its end, which has the whole text. */
  *#grow(index: number, delta: string): Generator<RunPart, void> {
    const shown = this.#shown.get(index);
    if (shown === undefined || shown.isEnded || delta === "") return;
    const { kind } = shown;
    const id = this.#id(index);
    if (!shown.isBegun) yield { kind: "block-start", block: kind, id };
    shown.isBegun = true;
    shown.length += delta.length;
    yield { kind: "block-delta", block: kind, id, delta };
  }

  *#whole(index: number, kind: BlockKind, text: string): Generator<RunPart, void> {
    this.#begin(index, kind);
    yield* this.#grow(index, text.slice(this.#shown.get(index)?.length));
    yield* this.#end(index);
  }

  *#end(index: number): Generator<RunPart, void> {
    const shown = this.#shown.get(index);
    if (shown === undefined || shown.isEnded) return;
    shown.isEnded = true;
    // A block without text, such as withheld reasoning, is not shown.
    if (shown.isBegun) yield { kind: "block-end", block: shown.kind, id: this.#id(index) };
  }

  #id(index: number): string {
    return `${this.#prefix}-${index}`;
  }
}

function textOf(block: AssistantContent | undefined): string | undefined {
  if (block?.type === "text") return block.text;
  return block?.type === "thinking" ? block.thinking : undefined;
}

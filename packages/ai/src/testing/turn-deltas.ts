import type { StopReason } from "@tau-agent/rpc-protocol/messages";
import type { Delta, TokenCounts } from "../provider.ts";
import type { ScriptedBlock, Turn } from "./scenario.ts";
import type { Signer } from "./signer.ts";

/** A delta and the pause before it, in ms. */
export interface TimedDelta {
  readonly delta: Delta;
  readonly delayMs: number;
}

const defaultChunkSize = 24;

/** The blocks of a turn, with strings converted to text blocks. */
function blocksOf(turn: Turn): ScriptedBlock[] {
  const content = turn.content ?? [];
  const list = typeof content === "string" ? [content] : content;
  return list.map((block) => (typeof block === "string" ? { type: "text", text: block } : block));
}

/** All deltas of a turn, including usage and stop. Lazy: nothing is stored. */
export function* turnDeltas(
  turn: Turn,
  requestIndex: number,
  usage: TokenCounts,
  sign: Signer = (scripted) => scripted,
): Generator<TimedDelta> {
  const blocks = blocksOf(turn);
  for (const [key, block] of blocks.entries()) {
    const pace = {
      chunkSize: Math.max(1, block.chunkSize ?? turn.chunkSize ?? defaultChunkSize),
      delayMs: block.delayMs ?? turn.delayMs ?? 0,
    };
    for (const delta of blockDeltas(signed(block, sign), key, requestIndex, pace.chunkSize)) {
      yield { delta, delayMs: pace.delayMs };
    }
    yield { delta: { type: "block_end", key }, delayMs: 0 };
  }
  yield { delta: { type: "usage", tokens: usage }, delayMs: 0 };
  yield { delta: { type: "stop", reason: stopReasonOf(turn, blocks) }, delayMs: 0 };
}

function signed(block: ScriptedBlock, sign: Signer): ScriptedBlock {
  return block.type === "thinking" ? { ...block, signature: sign(block.signature) } : block;
}

function* blockDeltas(
  block: ScriptedBlock,
  key: number,
  requestIndex: number,
  chunkSize: number,
): Generator<Delta> {
  if (block.type === "toolCall") {
    const id = block.id ?? `call_${requestIndex}_${key}`;
    yield { type: "tool_call", key, id, name: block.name };
    const json = block.rawArguments ?? JSON.stringify(block.arguments);
    for (const piece of pieces(json, chunkSize)) yield { type: "tool_call", key, arguments: piece };
    return;
  }
  if (block.type === "text") {
    for (const piece of pieces(block.text, chunkSize)) yield { type: "text", key, text: piece };
    return;
  }
  for (const piece of pieces(block.thinking, chunkSize)) {
    yield { type: "thinking", key, text: piece };
  }
  if (block.signature !== undefined) {
    yield { type: "signature", key, signature: block.signature };
  }
}

/** Splits a text into pieces of a size, but never inside a surrogate pair. */
function* pieces(text: string, size: number): Generator<string> {
  for (let start = 0; start < text.length; ) {
    let end = Math.min(start + size, text.length);
    const last = text.charCodeAt(end - 1);
    if (last >= 0xd800 && last <= 0xdbff && end < text.length) end++;
    yield text.slice(start, end);
    start = end;
  }
}

function stopReasonOf(turn: Turn, blocks: readonly ScriptedBlock[]): StopReason {
  const hasCalls = blocks.some((block) => block.type === "toolCall");
  return turn.stopReason ?? (hasCalls ? "toolUse" : "stop");
}

/** The usage of a turn: explicit values, and for the rest four characters per token. */
export function usageOf(turn: Turn, inputCharacters: number): TokenCounts {
  let output = 0;
  for (const block of blocksOf(turn)) {
    if (block.type === "text") output += block.text.length;
    else if (block.type === "thinking") output += block.thinking.length;
    else output += block.name.length + JSON.stringify(block.arguments).length;
  }
  return {
    input: Math.ceil(inputCharacters / 4),
    output: Math.max(1, Math.ceil(output / 4)),
    ...turn.usage,
  };
}

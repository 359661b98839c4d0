import type { Pacing, ScriptedBlock, Turn } from "@tau-agent/ai/testing";

/** Pieces and pauses as a fast model's, so that a viewer can read along. */
const readable = { chunkSize: 5, delayMs: 20 };
/** Nobody sees arguments while they come; before a call the model takes a moment. */
const atOnce = { chunkSize: 2000, delayMs: 250 };
const withoutPause = { chunkSize: 48 };

/** A turn at a readable pace for viewers, and without any pause for everybody else. */
export function atPace(turn: Turn, isLive: boolean): Turn {
  if (!isLive) return { ...turn, ...withoutPause };
  const { content = [] } = turn;
  const blocks = typeof content === "string" ? [content] : content;
  return { ...turn, content: blocks.map(withPace) };
}

function withPace(block: string | ScriptedBlock): ScriptedBlock {
  if (typeof block === "string") return { type: "text", text: block, ...readable };
  const pace: Pacing = block.type === "toolCall" ? atOnce : readable;
  return { ...block, ...pace };
}

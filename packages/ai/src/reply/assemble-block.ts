import type { AssistantContent, ToolCall } from "@tau-agent/rpc-protocol/messages";
import { isJsonObject, PartialJson } from "@tau-agent/rpc-protocol/plain";

/** The state of a content block that its message does not show. */
export interface OpenBlock {
  readonly type: "text" | "thinking" | "tool_call";
  /** The block's index in the message; undefined while a tool call waits for its name. */
  index: number | undefined;
  hasEnded: boolean;
  /** Everything streamed so far. */
  raw: string;
  /** Arguments that arrived before the name. */
  held: string;
  id?: string | undefined;
  name?: string | undefined;
  signature?: string;
  readonly json: PartialJson;
  liveArguments(): Record<string, unknown>;
}

export function openBlock(type: OpenBlock["type"]): OpenBlock {
  const json = new PartialJson();
  return {
    type,
    index: undefined,
    hasEnded: false,
    raw: "",
    held: "",
    json,
    liveArguments: () => (isJsonObject(json.value) ? json.value : {}),
  };
}

/** Marks a block as ended and returns its final content. */
export function closeBlock(
  block: OpenBlock,
  content: AssistantContent,
  wholeArguments?: string | undefined,
): AssistantContent {
  block.hasEnded = true;
  return content.type === "toolCall" ? settleToolCall(block, content, wholeArguments) : content;
}

/**
 * Sets a call's final arguments. If the streamed text is not a JSON object, the vendor's final copy is used;
 * if that is not one either, the arguments are marked as malformed.
 */
export function settleToolCall(
  block: OpenBlock,
  call: ToolCall,
  wholeArguments?: string | undefined,
): ToolCall {
  for (const [raw, json] of candidates(block, wholeArguments)) {
    if (raw.trim() === "") return { ...call, arguments: {} };
    if (!json.end()) continue;
    if (json.value === null) return { ...call, arguments: {} };
    if (isJsonObject(json.value)) return { ...call, arguments: json.value };
  }
  return { ...call, arguments: {}, argumentsError: block.raw };
}

function* candidates(
  block: OpenBlock,
  wholeArguments: string | undefined,
): Generator<[string, PartialJson]> {
  const hasOther = wholeArguments !== undefined && wholeArguments !== block.raw;
  if (block.raw !== "" || !hasOther) yield [block.raw, block.json];
  if (!hasOther) return;
  const json = new PartialJson();
  json.feed(wholeArguments);
  yield [wholeArguments, json];
}

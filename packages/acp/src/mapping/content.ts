import type { ContentBlock, SessionUpdate, ToolCallContent } from "@agentclientprotocol/sdk";
import type { UserContent } from "@tau-agent/rpc-protocol/messages";

function contentBlock(block: UserContent): ContentBlock {
  if (block.type === "text") return { type: "text", text: block.text };
  return { type: "image", data: block.data, mimeType: block.mimeType };
}

/** The blocks of a message whose content is a string or a list; empty texts are dropped. */
export function contentBlocks(content: string | readonly UserContent[]): ContentBlock[] {
  const blocks: readonly UserContent[] =
    typeof content === "string" ? [{ type: "text", text: content }] : content;
  return blocks.filter((block) => block.type !== "text" || block.text !== "").map(contentBlock);
}

/** Updates of one message: the client joins chunks that have the same id. */
export function* ofMessage(
  messageId: string,
  updates: Iterable<SessionUpdate>,
): Generator<SessionUpdate> {
  for (const update of updates) {
    const { sessionUpdate } = update;
    const isChunk =
      sessionUpdate === "user_message_chunk" ||
      sessionUpdate === "agent_message_chunk" ||
      sessionUpdate === "agent_thought_chunk";
    yield isChunk ? { ...update, messageId } : update;
  }
}

/** A tool's output for display. With `isCode`, texts keep their line breaks and spaces. */
export function toolContent(
  content: readonly UserContent[],
  { isCode }: { readonly isCode: boolean },
): ToolCallContent[] {
  return content
    .filter((block) => block.type !== "text" || block.text !== "")
    .map((block) => {
      const shown =
        block.type === "text" && isCode ? { ...block, text: fenced(block.text) } : block;
      return { type: "content", content: contentBlock(shown) };
    });
}

/** A text as a fenced Markdown block, with a fence that the text cannot close. */
export function fenced(text: string): string {
  const longest = (text.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}${text.endsWith("\n") ? "" : "\n"}${fence}`;
}
